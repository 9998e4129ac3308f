import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { demoAddresses } from "../../src/demo/addresses.ts";
import { temporaryFolder } from "../support/process.ts";

setDefaultTimeout(60_000);

test("the addresses are a thousand, the same each time, with twenty repeats", () => {
  const addresses = demoAddresses();
  expect(addresses.length).toBe(1000);
  expect(new Set(addresses).size).toBe(980);
  expect(demoAddresses()).toEqual(addresses);
});

test("bun run demo refuses an option that it does not have, and lists those that it has", async () => {
  const demo = async (...words: string[]) => {
    const child = Bun.spawn([process.execPath, "src/demo/main.ts", ...words], {
      cwd: join(import.meta.dir, "../.."),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, error] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { code: await child.exited, out, error };
  };
  const asked = await demo("--help");
  expect(asked).toEqual({ code: 0, out: expect.stringContaining("bun run demo --job "), error: "" });
  expect(await demo("--jobs")).toEqual({ code: 1, out: "", error: asked.out });
});

test.each(["", "--job"])(
  "bun run demo %s shows verdicts, speed and cost, and leaves nothing behind",
  async (option) => {
    using folder = temporaryFolder("demo");
    const child = Bun.spawn({
      cmd: [process.execPath, "run", "--silent", "demo", ...(option === "" ? [] : [option])],
      cwd: join(import.meta.dir, "../.."),
      // A name server that answers nobody: the demo must not ask it.
      env: {
        PATH: process.env.PATH ?? "",
        HOME: process.env.HOME ?? "",
        TMPDIR: folder.path,
        DNS_SERVERS: "127.0.0.1:1",
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: 30_000,
    });
    const [text, problems] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    await child.exited;
    expect(problems).toBe("");
    expect(child.exitCode).toBe(0);
    for (const status of ["deliverable", "risky", "undeliverable", "unknown"]) {
      expect(text).toMatch(new RegExp(`^${status} +[1-9]\\d*$`, "m"));
    }
    for (const cause of ["accepts_mail", "disposable", "mx_is_ip", "gibberish", "null_mx", "dns_error"]) {
      expect(text).toContain(` ${cause} `);
    }
    expect(text).toMatch(/1,000 addresses in \d+ ms: [\d,]+ a second/);
    expect(text).toContain("970 units: 20 repeats and 10 failed look-ups are free");
    if (option === "--job") {
      expect(text).toMatch(/The job job_[0-9a-f]+ has 1000 rows, 980 of them distinct\.\n/);
      expect(text).toContain("  completed: 1000 of 1000 rows\n");
    }
    expect(readdirSync(folder.path)).toEqual([]);
  },
);

test("bun run demo leaves nothing behind after a Ctrl-C, which comes twice from a terminal", async () => {
  const again = 'for each in {1..2000}; do kill -INT "$1" || exit 0; done';
  for (const reached of ["listens", "Signed up", "has 1000 rows", "running"]) {
    using folder = temporaryFolder("demo");
    const child = Bun.spawn([process.execPath, "src/demo/main.ts", "--job"], {
      cwd: join(import.meta.dir, "../.."),
      env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", TMPDIR: folder.path },
      stdout: "pipe",
      stderr: "pipe",
    });
    let text = "";
    for await (const part of child.stdout) {
      text += Buffer.from(part).toString();
      if (text.includes(reached)) break;
    }
    Bun.spawnSync(["bash", "-c", again, "bash", `${child.pid}`]);
    expect([await child.exited, await child.stderr.text(), readdirSync(folder.path)]).toEqual([130, "", []]);
  }
});
