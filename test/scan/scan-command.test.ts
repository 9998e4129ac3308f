import { expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../support/process.ts";

/** `bun run scan` as a line of CI meets it: what it says, where, and with which exit code. */

const COMMAND = join(import.meta.dir, "../../src/scan-command.ts");

async function run(...args: readonly string[]) {
  const child = Bun.spawn([process.execPath, COMMAND, ...args], { stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out, err, code };
}

test("what may not be scanned is no result: 2, and a sentence", async () => {
  for (const origin of [
    "https://127.0.0.1",
    "https://0x7f.1",
    "http://localhost",
    "https://a.example:8443",
  ]) {
    const { out, err, code } = await run(origin);
    expect([origin, code, out]).toEqual([origin, 2, ""]);
    expect(err).toMatch(/^This origin may not be scanned: .*--allow-private\.\n$/);
  }
});

test("resources that would not be asked are refused", async () => {
  const elsewhere = await run("https://a.example", "--resource", "https://b.example/x");
  expect([elsewhere.code, elsewhere.err]).toEqual([
    2,
    expect.stringContaining("resources must be addresses on the origin's host."),
  ]);
  const many = Array.from({ length: 6 }, (_, n) => ["--resource", `https://a.example/${n}`]).flat();
  expect(await run("https://a.example", ...many)).toMatchObject({
    code: 2,
    err: "At most 5 --resource may be given.\n",
  });
});

test("help is no fault, and invalid evidence is refused with its file", async () => {
  expect(await run("--help")).toMatchObject({ code: 0, err: "", out: expect.stringContaining("Usage:") });
  expect(await run()).toMatchObject({ code: 2, out: "", err: expect.stringContaining("Usage:") });
  using folder = temporaryFolder("scan-command");
  const file = join(folder.path, "evidence.json");
  await Bun.write(file, '{"origin":"https://a.example"}');
  expect(await run("--evidence", file)).toEqual({
    code: 2,
    out: "",
    err: `${file} holds no evidence of a scan.\n`,
  });
});

test("a server that is down is a result: grade F, 1, and JSON where it is asked for", async () => {
  const { out, code } = await run("http://127.0.0.1:9", "--allow-private", "--json");
  expect([code, JSON.parse(out).grade, JSON.parse(out).checks.length]).toEqual([1, "F", 25]);
});
