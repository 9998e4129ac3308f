import { expect, test } from "bun:test";
import { endScript, spawnScript } from "../support/script.ts";

// Says when it may be stopped, and takes its time over it.
const LAGGARD = `process.on("SIGTERM", () => setTimeout(() => process.exit(), 300));
setInterval(() => {}, 1000);
console.log("ready");`;

test("a script has ended once all that it started has, also where it ends first itself", async () => {
  const env = { PATH: process.env.PATH ?? "", LAGGARD };
  const script = spawnScript(`"${process.execPath}" -e "$LAGGARD" & wait`, { cwd: import.meta.dir, env });
  for await (const part of script.stdout) {
    if (new TextDecoder().decode(part).includes("ready")) break;
  }
  await endScript(script);
  expect(() => process.kill(-script.pid, 0)).toThrow("ESRCH");
});
