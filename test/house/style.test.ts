import { expect, test } from "bun:test";
import { join } from "node:path";

/** Rules of the house that neither the linter nor the types hold. */

const ROOT = join(import.meta.dir, "../..");

type Line = { readonly place: string; readonly text: string };

async function linesIn(folders: string): Promise<readonly Line[]> {
  const files = [...new Bun.Glob(`${folders}/**/*.{ts,tsx}`).scanSync({ cwd: ROOT })].filter(
    (file) => !file.includes("node_modules"),
  );
  const texts = await Promise.all(files.map((file) => Bun.file(join(ROOT, file)).text()));
  return texts.flatMap((text, at) =>
    text.split("\n").map((line, number) => ({ place: `${files[at]}:${number + 1}`, text: line.trim() })),
  );
}

const program = await linesIn("{src,workers,bench}");
const everything = [...program, ...(await linesIn("test"))].filter(
  ({ place }) => !place.startsWith("test/house/style.test.ts:"),
);
const matching = (lines: readonly Line[], pattern: RegExp) =>
  lines.filter(({ text }) => pattern.test(text)).map(({ place, text }) => `${place} ${text}`);

test("an object is written out: no literal is spread into another to save lines", () => {
  expect(program.length).toBeGreaterThan(70_000);
  expect(matching(program, /\.\.\.\{ /)).toEqual([]);
});

test("nothing is left to be done, and no docstring repeats a type", () => {
  expect(everything.length).toBeGreaterThan(120_000);
  expect(matching(everything, /\b(?:TODO|FIXME|XXX)\b|@(?:param|returns?|type)\b/)).toEqual([]);
});

test("a class of errors has its name as a literal", () => {
  const places = program.flatMap(({ place, text }, at) => {
    if (!/^(?:export )?class \w+ extends Error\b/.test(text)) return [];
    const body = program.slice(at, at + 4).map((line) => line.text);
    return body.some((line) => /^override readonly name = "\w+"/.test(line)) ? [] : [`${place} ${text}`];
  });
  expect(places).toEqual([]);
});

test("no test is left out or runs alone by mistake", () => {
  const tests = everything.filter(({ place }) => place.startsWith("test/"));
  expect(matching(tests, /^(?:test|describe|it)\.(?:only|todo)\b/)).toEqual([]);
  // A test that is skipped for want of a program says so in the log of the run.
  expect(matching(tests, /^(?:test|describe|it)\.skip\((?!"SKIPPED: |`SKIPPED: )/)).toEqual([]);
});
