import { expect, test } from "bun:test";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/process.ts";

const ROOT = join(import.meta.dir, "../..");

const NEW_TYPE = `import { alphabetOf, compactBy, DIGITS, unreadable } from "./alphabet.ts";
import type { DocumentCheck } from "./document-check.ts";
import { type Finding, failed, NO_WARNINGS, type Outcome, passed } from "./outcome.ts";

const ALPHABET = alphabetOf(DIGITS, "-");

const UNREAD: Finding<"parking"> = {
  normalized: null,
  formatted: null,
  country: null,
  strength: "format",
  warnings: NO_WARNINGS,
  data_version: null,
  details: {},
};

const compact = (value: string) => compactBy(ALPHABET, value);
const format = (digits: string) => \`\${digits.slice(0, 3)}-\${digits.slice(3)}\`;

function validate(value: string): Outcome<"parking"> {
  const digits = compact(value);
  if (digits === null) return unreadable("parking", value, "A parking permit", ALPHABET, UNREAD);
  const finding = { ...UNREAD, normalized: digits, formatted: format(digits) };
  if (digits.length === 7) return passed("parking", value, finding);
  return failed("parking", value, "length", "A parking permit has 7 digits.", finding);
}

/**
 * A made-up parking permit.
 * @checked seven digits
 * @example
 * parking.validate("123-4567").valid === true
 */
export const parking: DocumentCheck<"parking"> = { compact, validate, format, unread: UNREAD };
`;

const USE = `import { tables } from "./src/tools/data-refresh/document-types.ts";
for (const { path, build } of tables) await Bun.write(path, await build());
const { validateDocument } = await import("./src/verification/documents/registry.ts");
const { IdentityResult } = await import("./src/contract/specification/verification/identity-replies.ts");
console.log(validateDocument("parking", "1234567").formatted, IdentityResult.anyOf.at(-1).$id);
`;

const TESTS = ["vectors", "totality"].map((name) => `test/verification/documents/${name}.test.ts`);
const SUPPORT = ["documents-generators", "documents-vectors", "result-fields"];
const COPIED = [
  ...["package.json", "tsconfig.json", "src", "workers", "test/vectors/documents"],
  ...[...TESTS, ...SUPPORT.map((name) => `test/support/${name}.ts`)],
];

test("a new type of document is one file, two files of vectors and one word", () => {
  using folder = temporaryFolder("document-type");
  const at = (path: string) => join(folder.path, path);
  for (const path of COPIED) cpSync(join(ROOT, path), at(path), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), at("node_modules"));

  writeFileSync(at("src/verification/documents/parking.ts"), NEW_TYPE);
  writeFileSync(at("test/vectors/documents/parking.valid.txt"), "123-4567\n1234567\n");
  writeFileSync(at("test/vectors/documents/parking.invalid.txt"), "12-34567890\tlength\nABC\tformat\n");
  const words = at("src/contract/words.ts");
  const text = readFileSync(words, "utf8");
  writeFileSync(words, text.replace(/(DOCUMENT_TYPES = \[[^\]]*)\]/, '$1, "parking"]'));

  const run = (...command: string[]) => {
    const { stdout, stderr } = Bun.spawnSync(command, { cwd: folder.path, env: process.env });
    return `${stdout}${stderr}`;
  };
  expect(run(process.execPath, "-e", USE)).toBe("123-4567 ParkingResult\n");
  expect(readFileSync(at("src/docs/identity.md"), "utf8")).toContain(
    "\n| `parking` | seven digits | `format` | – |\n",
  );
  expect(run(process.execPath, "node_modules/typescript/bin/tsc", "-p", ".")).toBe("");
  const tests = TESTS.map((path) => `./${path}`);
  const tested = run(process.execPath, "test", "-t", "parking|any text|a failed check", ...tests);
  expect(tested).toContain('(pass) parking > accepts "123-4567"');
  expect(tested).toContain('(pass) parking > refuses "ABC" for its format');
  expect(tested).toContain(" 0 fail");
}, 120_000);
