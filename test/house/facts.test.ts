import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DEFAULTS } from "../../src/contract/defaults.ts";
import * as words from "../../src/contract/words.ts";

/** Each fact of the wire stands in one place, and what is made from it follows. */

const ROOT = join(import.meta.dir, "../..");
const SOURCES = await Promise.all(
  [...new Bun.Glob("src/**/*.ts").scanSync({ cwd: ROOT })]
    .toSorted()
    .map(async (file) => ({ file, text: await Bun.file(join(ROOT, file)).text() })),
);

/** The files in which all words of a list follow each other, quoted. */
function writtenOutIn(list: readonly string[]): string[] {
  const quoted = list.map((word) => `"${RegExp.escape(word)}"`).join("[\\s,|]+");
  return SOURCES.filter(({ text }) => new RegExp(quoted).test(text)).map(({ file }) => file);
}

test("the words of the wire are written out in src/contract/words.ts alone", () => {
  const lists = Object.entries(words).flatMap(([name, value]) => {
    const list: readonly unknown[] = Array.isArray(value) && value.length > 2 ? value : [];
    const strings = list.filter((word) => typeof word === "string");
    return strings.length === 0 ? [] : [[name, strings] as const];
  });
  expect(lists.length).toBeGreaterThan(8);
  const repeated = lists.flatMap(([name, list]) =>
    writtenOutIn(list)
      .filter((file) => file !== "src/contract/words.ts")
      .map((file) => `${name} in ${file}`),
  );
  expect(repeated).toEqual([]);
});

test("what holds where a field is left out is written in src/contract/defaults.ts alone", () => {
  const names = Object.keys(DEFAULTS).map((name) => name.replace(/^.*(?=Limit$|Kind$)/, "").toLowerCase());
  const fields = [...new Set([...names, "overlap_seconds", "group_by", "when_out_of_units"])].join("|");
  const literal = new RegExp(`\\b(?:${fields}) (?:\\?\\?|=) (?:\\d+|true|false|"[a-z_]+")`);
  expect(literal.test("limit ?? 10")).toBeTrue();
  const handlers = SOURCES.filter(({ file }) => file.startsWith("src/http/"));
  const found = handlers.flatMap(({ file, text }) =>
    text
      .split("\n")
      .filter((line) => literal.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

/** The registry and the page are made from its word; beside them it is where the contract says what is special of it. */
describe("a type of document", () => {
  test.each(words.DOCUMENT_TYPES)("%s is a file and two files of vectors", (type) => {
    const files = [
      `src/verification/documents/${type}.ts`,
      `test/vectors/documents/${type}.valid.txt`,
      `test/vectors/documents/${type}.invalid.txt`,
    ];
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  test("is listed with all others by its word and what is made from it alone", () => {
    // What is special of some: how they are detected, the fields of their details, samples.
    const some = [
      "src/contract/specification/verification/identity-replies.ts",
      "src/contract/specification/verification/identity.ts",
      "src/verification/documents/autodetect.ts",
    ];
    const listing = SOURCES.filter(({ text }) =>
      words.DOCUMENT_TYPES.every((type) => new RegExp(`\\b${type}\\b`).test(text)),
    ).map(({ file }) => file);
    expect(listing.filter((file) => !some.includes(file))).toEqual([
      "src/contract/words.ts",
      "src/verification/documents/all-documents.ts",
    ]);
  });
});

test("no test lets a promise that shall reject go unawaited", async () => {
  const files = [...new Bun.Glob("test/**/*.ts").scanSync({ cwd: ROOT })].filter(
    (file) => !file.includes("node_modules"),
  );
  const texts = await Promise.all(files.map((file) => Bun.file(join(ROOT, file)).text()));
  const unawaited = texts.flatMap((text, at) =>
    text
      .split("\n")
      .filter((line) => /^\s*expect\(.*\)\.(?:rejects|resolves)\./.test(line))
      .map((line) => `${files[at]}: ${line.trim()}`),
  );
  expect(unawaited).toEqual([]);
});
