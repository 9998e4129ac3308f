import { expect, test } from "bun:test";
import { join } from "node:path";

const LOG = join(import.meta.dir, "../../src/app/log.ts");

/** Logs once more for each line that it reads, and says so. */
const PROGRAM = `
  import { createLog } from ${JSON.stringify(LOG)};
  const log = createLog("info");
  for await (const line of console) {
    if (line === "") break;
    log.info(line);
    log.flush();
    await new Promise((resolve) => setTimeout(resolve, 1));
    process.stderr.write(line + "\\n");
  }
  process.exit(0);
`;

test("a process whose log nobody reads any more goes on", async () => {
  const child = Bun.spawn([process.execPath, "-e", PROGRAM], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const said = new Response(child.stderr).text();
  child.stdin.write("first\n");
  for await (const part of child.stdout) {
    expect(new TextDecoder().decode(part)).toContain('"event":"first"');
    break;
  }
  for (const line of ["second", "third", "fourth"]) child.stdin.write(`${line}\n`);
  child.stdin.end();
  expect([await child.exited, await said]).toEqual([0, "first\nsecond\nthird\nfourth\n"]);
});
