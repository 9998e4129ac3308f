import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import packageFile from "../../package.json" with { type: "json" };
import { COMMAND } from "../support/reader.ts";
import { inlineCodesOf } from "../support/readme.ts";
import { commandsInText, describeCommands } from "../support/text-commands.ts";

setDefaultTimeout(300_000);

const ROOT = join(import.meta.dir, "../..");
const { all, alone } = commandsInText();

test("commands within the text of the README and the pages are found", () => {
  expect(all).toEqual(expect.arrayContaining(["bun run bench", "bun run eval", "assay verify FILE"]));
  expect(alone.length).toBeLessThan(all.length);
});

// Those that measure are run by a file of their own.
describeCommands(
  "every command within the text of the README and the pages",
  alone.filter((command) => !command.includes("bench")),
);

test("CONTRIBUTING names scripts, tests and variables that there are", async () => {
  const { scripts } = packageFile;
  const commands = inlineCodesOf(await Bun.file(join(ROOT, ".github/CONTRIBUTING.md")).text()).filter(
    (code) => COMMAND.test(code),
  );
  expect(commands.length).toBeGreaterThan(4);
  for (const command of commands) {
    const [, variable, name] = /^(?:([A-Z_]+)=\S+ )?(?:bun run|bun test|bun|bash) (\S+)$/.exec(command) ?? [];
    const isThere = name !== undefined && (name in scripts || existsSync(join(ROOT, name)));
    expect([command, isThere]).toEqual([command, true]);
    if (variable !== undefined) expect(await Bun.file(join(ROOT, name ?? "")).text()).toContain(variable);
  }
});
