import { expect, setDefaultTimeout, test } from "bun:test";
import { commandsInText, describeCommands } from "../support/text-commands.ts";

setDefaultTimeout(300_000);

const benches = commandsInText().alone.filter((command) => command.includes("bench"));

test("commands that measure are found within the text of the README and the pages", () => {
  expect(benches).toEqual(expect.arrayContaining(["bun run bench:against", "bun run bench:cluster"]));
});

describeCommands("every command that measures, within the text of the README and the pages", benches);
