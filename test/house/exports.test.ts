import { expect, test } from "bun:test";
import { join } from "node:path";

/** What is exported is for somebody: an export that nobody imports makes a reader look for who does. */

const ROOT = join(import.meta.dir, "../..");
const EXPORTED = /^export (?:async )?(?:const|function\*?|class) (\w+)/gm;

type Source = { readonly file: string; readonly text: string; readonly words: ReadonlyMap<string, number> };

async function sourcesIn(folders: readonly string[]): Promise<readonly Source[]> {
  const files = folders.flatMap((folder) =>
    [...new Bun.Glob(`${folder}/**/*.{ts,tsx}`).scanSync({ cwd: ROOT })].filter(
      (file) => !file.includes("node_modules"),
    ),
  );
  return Promise.all(
    files.map(async (file) => {
      const text = await Bun.file(join(ROOT, file)).text();
      const words = new Map<string, number>();
      for (const [word] of text.matchAll(/\w+/g)) words.set(word, (words.get(word) ?? 0) + 1);
      return { file, text, words };
    }),
  );
}

const program = await sourcesIn(["src", "workers"]);
const benches = await sourcesIn(["bench"]);
const tests = await sourcesIn(["test"]);

const exportsOf = ({ text }: Source) => [...text.matchAll(EXPORTED)].map(([, name = ""]) => name);
const isNamedIn = (sources: readonly Source[], name: string, own: Source) =>
  sources.some((source) => source !== own && source.words.has(name));

test("every value that a file of the program exports is imported by another one", () => {
  const all = [...program, ...benches, ...tests];
  const unused = [...program, ...benches].flatMap((source) =>
    exportsOf(source)
      .filter((name) => !isNamedIn(all, name, source))
      .map((name) => `${source.file}: ${name}`),
  );
  expect(unused).toEqual([]);
});

/** What the program has for its tests and its pages alone. */
const FOR_TESTS = [
  // The addresses of test keys: the documentation lists them, the made-up DNS has their domains.
  "src/test-keys/test-addresses.ts: TEST_ADDRESSES",
  // The countries of IBANs, held against other tables and against the documentation.
  "src/verification/documents/iban-country.ts: ibanCountries",
  // The release of the metadata, held against the package that is installed.
  "src/verification/phone/parse.ts: PHONE_DATA_VERSION",
];

test("nothing of the program is there for its tests alone, but what is listed", () => {
  const unused = program.flatMap((source) =>
    exportsOf(source)
      .filter((name) => source.words.get(name) === 1 && !isNamedIn([...program, ...benches], name, source))
      .map((name) => `${source.file}: ${name}`),
  );
  expect(unused.toSorted()).toEqual(FOR_TESTS);
});
