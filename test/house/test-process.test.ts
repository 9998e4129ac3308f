import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/process.ts";
import { isRepeatable, runTestFiles } from "../support/test-process.ts";

const FILES: { readonly [name: string]: string } = {
  good: 'test("passes", () => {});\ntest.skip("is skipped", () => {});',
  bad: 'test("passes", () => {});\ntest("fails", () => expect(1).toBe(2));',
  broken: 'import "./missing.ts";\ntest("is never run", () => {});',
  hook: 'afterAll(() => { throw new Error("late"); });\ntest("passes", () => {});',
  late: 'test("passes", () => { setTimeout(() => { throw new Error("late"); }, 1); });\ntest("waits", () => Bun.sleep(50));',
  property:
    'test("holds", () => fc.assert(fc.property(fc.integer({ min: 0, max: 9 }), (n) => n < 0), { numRuns: 3 }));',
  leaving: 'test("leaves", () => process.exit(0));',
};
const folder = temporaryFolder("test-process");
const nameOf = (name: string) => `${name}.test.ts`;

beforeAll(() => {
  for (const [name, text] of Object.entries(FILES)) {
    const fastCheck = Bun.resolveSync("fast-check", import.meta.dir);
    const imports = `import { afterAll, expect, test } from "bun:test";\nimport fc from "${fastCheck}";\n`;
    const code = `${text.includes("fc.") ? imports : imports.slice(0, imports.indexOf("\n") + 1)}${text}\n`;
    writeFileSync(join(folder.path, nameOf(name)), code);
  }
});
afterAll(() => folder[Symbol.dispose]());

/** Returns the names of the files that failed, run in one process. */
async function failedOf(...names: readonly string[]): Promise<readonly string[]> {
  const { files } = await runTestFiles(folder.path, names.map(nameOf));
  return files.filter(({ failed }) => failed > 0).map(({ file }) => file.replace(".test.ts", ""));
}

describe("files of tests that share a process", () => {
  test("have each their own outcome", async () => {
    const { files } = await runTestFiles(folder.path, ["good", "bad"].map(nameOf));
    expect(files).toEqual([
      { file: "good.test.ts", passed: 1, failed: 0, skipped: 1 },
      { file: "bad.test.ts", passed: 1, failed: 1, skipped: 0 },
    ]);
  });

  test("do not pass where one cannot be loaded, ends the process, or fails outside of a test", async () => {
    for (const name of ["broken", "hook", "late", "leaving"]) {
      expect([name, await failedOf(name)]).toEqual([name, [name]]);
      expect(await failedOf("good", name)).toContain(name);
      expect(await failedOf(name, "bad")).toEqual(expect.arrayContaining([name, "bad"]));
    }
  });
});

describe("a file that failed", () => {
  test("is tried again, but not where it found something at random", async () => {
    const textOf = async (name: string) => (await runTestFiles(folder.path, [nameOf(name)])).text;
    const file = "test/api/some.test.ts";
    expect(isRepeatable(file, await textOf("bad"))).toBe(true);
    expect(isRepeatable(file, await textOf("property"))).toBe(false);
    expect(isRepeatable(file, "(fail) agree on 30000 numbers (seed 4711)")).toBe(false);
    expect(isRepeatable("test/faults/kill.slow.test.ts", "")).toBe(false);
    expect(isRepeatable("test/cluster/chaos.slow.test.ts", "")).toBe(false);
  });
});
