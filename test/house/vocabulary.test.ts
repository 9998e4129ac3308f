import { describe, expect, test } from "bun:test";
import { join } from "node:path";

/** The words that code, comments, messages and pages are written in: one for each thing, the field's own. */

const ROOT = join(import.meta.dir, "../..");

/** A word that is not used, anywhere, and the one that is. */
const REPLACED: readonly (readonly [word: RegExp, instead: string])[] = [
  [/\bsurroundings?\b/i, "platform, dependencies"],
  [/\bfunction (?:create|open)\w*(?:<\w+>)?\(\s*parts: (?:\{|[A-Z])/, "dependencies, options"],
  [/\bsecrecy\b/i, "redaction, mask"],
  [/\bstrangers?(?:'s|s')?\b/i, "unauthenticated, unknown, other"],
  [/\b(?:fallBehind|rehearse|allowSilence|findRepeater)\b/, "what it does"],
  [/\bempties the house\b/i, "clear"],
  [/\bso (?:many|long|much)\b(?! (?:that|as)\b|$)/i, "the parameter's name, or what the number is"],
];

/** More words, that the program does without. */
const REPLACED_IN_PROGRAM: typeof REPLACED = [
  [/\b(?:tells?|told|hears?|heard)\b/i, "emit, report, say, know, decide, listen"],
];
const PROGRAM = ["src/", "workers/"];

/** More words, that the lower rooms do without. */
const REPLACED_HERE: typeof REPLACED = [
  [/\bwhoever\b/i, "who it is"],
  [/\bjudged?\b/i, "verify"],
  [/\ba text from a place to another\b/i, "source[start, end)"],
];
const HERE = ["platform", "verification", "dns", "domains", "net", "tables"].map((room) => `src/${room}/`);

const TEXTS = ["{src,workers,bench,test}/**/*.{ts,tsx,md}", ".github/*.md", "README.md", "CHANGELOG.md"];
/** This list, what is counted or published elsewhere, and dependencies. */
const PASSED_OVER = /^test\/house\/vocabulary\.test\.ts$|\/data\/|^bench\/results\/|\/node_modules\//;

type Line = { readonly file: string; readonly number: number; readonly text: string };

async function allLines(): Promise<Line[]> {
  const found = TEXTS.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: ROOT, dot: true })]);
  const files = found.filter((file) => !PASSED_OVER.test(file)).toSorted();
  const texts = await Promise.all(files.map((file) => Bun.file(join(ROOT, file)).text()));
  return files.flatMap((file, at) =>
    (texts[at] ?? "").split("\n").map((text, position) => ({ file, number: position + 1, text })),
  );
}

const lines = await allLines();

function uses(places: readonly Line[], words: typeof REPLACED): string[] {
  return places.flatMap(({ file, number, text }) =>
    words
      .filter(([word]) => word.test(text))
      .map(([word, instead]) => `${file}:${number} ${word.exec(text)?.[0]}: write ${instead}`),
  );
}

describe("the words of the house", () => {
  test("are those of the field", () => {
    expect(lines.length).toBeGreaterThan(50_000);
    expect(uses(lines, REPLACED)).toEqual([]);
  });

  test("are those of the field in the program and its pages", () => {
    const program = lines.filter(({ file }) => PROGRAM.some((folder) => file.startsWith(folder)));
    expect(program.length).toBeGreaterThan(30_000);
    expect(uses(program, REPLACED_IN_PROGRAM)).toEqual([]);
  });

  test("are those of the field alone in the lower rooms", () => {
    const here = lines.filter(({ file }) => HERE.some((room) => file.startsWith(room)));
    expect(here.length).toBeGreaterThan(5_000);
    expect(uses(here, REPLACED_HERE)).toEqual([]);
  });

  test("are found where they are used", () => {
    const line = { file: "a.ts", number: 1, text: "/** What it needs of its surroundings. */" };
    expect(uses([line], REPLACED)).toEqual(["a.ts:1 surroundings: write platform, dependencies"]);
  });
});
