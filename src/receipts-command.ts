import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { checkReceipt } from "./inference/receipt-check.ts";
import { sha256 } from "./inference/receipt-ledger.ts";
import type { PublicKey } from "./signing/signing-key.ts";

const USAGE = `Usage: bun run receipts verify FILE --keys KEYS [--request FILE] [--choices FILE]

Checks receipts offline: one on each line of FILE, or an answer with its receipt. KEYS is a copy of /.well-known/jwks.json.
Exit code: 0 where all are valid, 1 where one is not, 2 where they cannot be read.
`;

/** Checks the receipts of a file and returns the exit code. */
function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      keys: { type: "string" },
      request: { type: "string" },
      choices: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const [command, file] = positionals;
  if (values.help || command !== "verify" || file === undefined || values.keys === undefined) {
    (values.help ? process.stdout : process.stderr).write(USAGE);
    return values.help ? 0 : 2;
  }
  const { keys } = JSON.parse(readFileSync(values.keys, "utf8")) as { readonly keys: readonly PublicKey[] };
  const kept = {
    ...(values.request === undefined ? {} : { request: readFileSync(values.request, "utf8") }),
    ...(values.choices === undefined ? {} : { choices: JSON.parse(readFileSync(values.choices, "utf8")) }),
  };
  const receipts = receiptsIn(readFileSync(file, "utf8"));
  const known = new Set<string>();
  let invalid = 0;
  for (const [at, jws] of receipts.entries()) {
    const { valid, receipt, checks } = checkReceipt(jws, keys, kept);
    const failed = checks.filter(({ passed }) => !passed).map(({ detail }) => detail);
    // What is not in the file cannot be looked at; a gap within it can.
    const before = receipt?.prev_receipt_sha256 ?? null;
    if (at > 0 && !known.has(before ?? "")) failed.push("The receipt before it is not in the file.");
    known.add(sha256(jws));
    if (!valid) invalid += 1;
    process.stdout.write(
      `${receipt?.receipt_id ?? `line ${at + 1}`}: ${valid ? "valid" : "NOT VALID"}. ${failed.join(" ")}\n`,
    );
  }
  process.stdout.write(`${receipts.length - invalid} of ${receipts.length} receipts are valid.\n`);
  return invalid > 0 || receipts.length === 0 ? 1 : 0;
}

function receiptsIn(text: string): readonly string[] {
  if (!text.trimStart().startsWith("{")) {
    return text
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
  }
  const { receipt, jws } = JSON.parse(text) as { readonly receipt?: unknown; readonly jws?: unknown };
  return [receipt, jws].filter((value) => typeof value === "string");
}

try {
  process.exitCode = main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
