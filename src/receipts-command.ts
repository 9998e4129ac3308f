import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { nounOf } from "./contract/noun.ts";
import { checkReceipt } from "./inference/receipt-check.ts";
import { sha256 } from "./platform/sha256.ts";
import { type PublicKey, rotateSigningKey } from "./signing/signing-key.ts";

const USAGE = `Usage: bun run receipts verify FILE --keys KEYS [--request FILE] [--choices FILE]
       bun run receipts rotate-key DATA_DIR

verify checks receipts offline: one on each line of FILE, or an answer with its receipt. KEYS is a copy of
/.well-known/jwks.json. Exit code: 0 where all are valid, 1 where one is not, 2 where they cannot be read.

rotate-key makes a new key for what the service of a data directory signs, from its next start on. The old key can sign no
more and stays in /.well-known/jwks.json: what it signed stays valid.
`;

type Options = {
  readonly keys?: string | undefined;
  readonly request?: string | undefined;
  readonly choices?: string | undefined;
};

/** Does what the command says and returns the exit code. */
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
  const [command, path, ...rest] = positionals;
  if (!values.help && path !== undefined && rest.length === 0) {
    if (command === "rotate-key") return rotate(path);
    if (command === "verify" && values.keys !== undefined) return verify(path, values.keys, values);
  }
  (values.help ? process.stdout : process.stderr).write(USAGE);
  return values.help ? 0 : 2;
}

function rotate(dataDir: string): number {
  const { retired, present } = rotateSigningKey(dataDir);
  process.stdout.write(`The new key is ${present.kid}, from the next start of the service on.
The key ${retired.kid} stays published: what it signed stays valid.
`);
  return 0;
}

/** Checks the receipts of a file. */
function verify(file: string, keysFile: string, { request, choices }: Options): number {
  const { keys } = JSON.parse(readFileSync(keysFile, "utf8")) as { readonly keys: readonly PublicKey[] };
  const kept = {
    ...(request === undefined ? {} : { request: readFileSync(request, "utf8") }),
    ...(choices === undefined ? {} : { choices: JSON.parse(readFileSync(choices, "utf8")) }),
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
  const total = receipts.length;
  const verb = total === 1 ? "is" : "are";
  process.stdout.write(`${total - invalid} of ${total} ${nounOf(total, "receipt")} ${verb} valid.\n`);
  return invalid > 0 || total === 0 ? 1 : 0;
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
