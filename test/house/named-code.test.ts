import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inlineCodesOf } from "../support/readme.ts";

/** The files and functions that the architecture page and CONTRIBUTING send a reader to are there. */

const ROOT = join(import.meta.dir, "../..");
const FILE = /^(?:src|workers|test|bench)\/[\w./-]*$/;
const NAME = /^[A-Za-z_]\w+$/;

/** A file and the names that stand behind it in the same line. */
type Place = { readonly file: string; readonly names: readonly string[] };

function placesOf(lines: readonly string[]): Place[] {
  return lines.flatMap((line) => {
    const places: { file: string; names: string[] }[] = [];
    for (const code of inlineCodesOf(line)) {
      if (FILE.test(code)) places.push({ file: code, names: [] });
      else if (NAME.test(code)) places.at(-1)?.names.push(code);
    }
    return places;
  });
}

function expectThere(places: readonly Place[]): void {
  const missing = places.flatMap(({ file, names }) => {
    if (!existsSync(join(ROOT, file))) return [file];
    if (names.length === 0) return [];
    const text = readFileSync(join(ROOT, file), "utf8");
    const declared = (name: string) => new RegExp(`\\b(?:function\\*?|const) ${name}\\b`).test(text);
    return names
      .filter((name) => !declared(name) && !/^[a-z]+(?:_[a-z]+)+$/.test(name))
      .map((name) => `${file} ${name}`);
  });
  expect(missing).toEqual([]);
}

const linesOf = (path: string) => readFileSync(join(ROOT, path), "utf8").split("\n");

describe("the architecture page", () => {
  const lines = linesOf("src/docs/architecture.md");
  const stepsUnder = (heading: string) => {
    const from = lines.indexOf(heading) + 1;
    const end = lines.findIndex((line, position) => position >= from && line.startsWith("#"));
    return lines.slice(from, end === -1 ? undefined : end).filter((line) => /^\d+\. /.test(line));
  };

  test.each([
    "## One single check, file by file",
    "## One batch, file by file",
    "## One job, file by file",
    "## One event, file by file",
  ])("%s has at most ten steps, and every file and function is there", (heading) => {
    const steps = stepsUnder(heading);
    expect(steps.length).toBeWithin(5, 11);
    const places = placesOf(steps);
    expect(places.length).toBeGreaterThanOrEqual(steps.length);
    expectThere(places);
  });
});

test("CONTRIBUTING answers ten questions, and every file and function is there", () => {
  const rows = linesOf(".github/CONTRIBUTING.md").filter((line) => line.startsWith("| Where "));
  expect(rows.length).toBeGreaterThanOrEqual(10);
  for (const row of rows) expect([row, placesOf([row]).length > 0]).toEqual([row, true]);
  expectThere(placesOf(rows));
});

test("CONTRIBUTING says where each addition begins, and every file and function is there", () => {
  const lines = linesOf(".github/CONTRIBUTING.md");
  const from = lines.indexOf("## Adding something") + 1;
  const additions = lines.slice(from, lines.indexOf("## Data")).filter((line) => line.startsWith("- **"));
  expect(additions.length).toBeGreaterThanOrEqual(9);
  expectThere(placesOf(additions));
});
