import { expect, test } from "bun:test";
import { endScript, isAnyLeftWith, spawnScript } from "../support/script.ts";

// Says when it may be stopped, and takes its time over it.
const LAGGARD = `process.on("SIGTERM", () => setTimeout(() => process.exit(), 300));
setInterval(() => {}, 1000);
console.log("ready");`;

test("a script has ended once all that it started has, also where it ends first itself", async () => {
  const MARK = crypto.randomUUID();
  const env = { PATH: process.env.PATH ?? "", LAGGARD, MARK };
  const script = spawnScript(`"${process.execPath}" -e "$LAGGARD" & wait`, { cwd: import.meta.dir, env });
  for await (const part of script.stdout) {
    if (new TextDecoder().decode(part).includes("ready")) break;
  }
  expect(isAnyLeftWith(`MARK=${MARK}`)).toBe(true);
  await endScript(script);
  expect(() => process.kill(-script.pid, 0)).toThrow("ESRCH");
  expect(isAnyLeftWith(`MARK=${MARK}`)).toBe(false);
});
