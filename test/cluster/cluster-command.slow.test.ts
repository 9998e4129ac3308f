import { expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFixtureServer } from "../../src/made-up-dns/server.ts";
import { freePort } from "../support/free-port.ts";
import { keyOf } from "../support/json.ts";
import { isListenedOn, isPostgresInstalled } from "../support/postgres.ts";
import { TEST_ZONE } from "../support/server.ts";

const ROOT = join(import.meta.dir, "../..");
const isInstalled = isPostgresInstalled && Bun.which("haproxy", { PATH: "/usr/sbin:/usr/bin" }) !== null;

if (!isInstalled) {
  test.skip("SKIPPED: PostgreSQL or HAProxy is not installed, so bun run cluster is not tested", () => {});
}

test.if(isInstalled)(
  "bun run cluster serves through its balancer, survives the kill of a node, and leaves nothing when it is killed itself",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "assay-cluster-command-"));
    // PostgreSQL runs as another user, which has to get there.
    chmodSync(folder, 0o755);
    await using dns = await startFixtureServer({ zone: TEST_ZONE });
    const child = Bun.spawn([process.execPath, "src/tools/cluster/main.ts", "--nodes", "2"], {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH ?? "",
        PORT: "0",
        DATA_DIR: folder,
        DNS_SERVERS: dns.address,
        LOG_LEVEL: "error",
        WORKER_THREADS: "1",
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    try {
      const said = await saidUntil(child.stdout, /^Assay listens on (http:\S+)$/m);
      const url = /^Assay listens on (http:\S+)$/m.exec(said)?.[1] ?? "";
      const signedUp = await fetch(`${url}/v1/signup`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ email: "user@good.com" }),
      });
      expect(signedUp.status).toBe(201);
      const headers = { Authorization: `Bearer ${await keyOf(signedUp)}` };
      // What hangs fails here, with its name, and not the test as a whole.
      const check = () =>
        fetch(`${url}/v1/phone/validate?phone=%2B5511987654321`, {
          headers,
          signal: AbortSignal.timeout(20_000),
        });
      expect((await check()).status).toBe(200);
      process.kill(Number(/^node 1: http\S+ process (\d+)$/m.exec(said)?.[1]), "SIGKILL");
      // What the balancer sends to the dead node before it notices may fail; it notices.
      while ((await check()).status !== 200) await Bun.sleep(200);
      expect((await fetch(`${url}/v1/account`, { headers })).status).toBe(200);
      const second = Bun.spawn([process.execPath, "src/tools/cluster/main.ts", "--nodes", "1"], {
        cwd: ROOT,
        env: { PATH: process.env.PATH ?? "", PORT: "0", DATA_DIR: folder },
        stdin: "ignore",
        stdout: "ignore",
        stderr: "pipe",
      });
      const refused = await new Response(second.stderr).text();
      expect([
        await second.exited,
        refused.startsWith("Another process is using the data directory"),
      ]).toEqual([1, true]);
      // Killed itself, it leaves nothing behind that holds the port or the data.
      child.kill("SIGKILL");
      await child.exited;
      const database = /^PostgreSQL: (\S+)$/m.exec(said)?.[1] ?? "";
      const held = [url, database].map((each) => Number(new URL(each).port));
      while ((await Promise.all(held.map(isListenedOn))).includes(true)) await Bun.sleep(100);
      const nodes = [...said.matchAll(/^node \d+: http\S+ process (\d+)$/gm)].map(([, id]) => Number(id));
      while (nodes.some(isRunning)) await Bun.sleep(20);
    } finally {
      child.kill("SIGTERM");
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test.if(isInstalled)(
  "Ctrl-C, which reaches a whole group, ends the nodes of bun run cluster before their PostgreSQL",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "assay-cluster-ended-"));
    chmodSync(folder, 0o755);
    const said = Bun.file(join(folder, "said.txt"));
    const child = Bun.spawn([process.execPath, "src/tools/cluster/main.ts", "--nodes", "2"], {
      cwd: ROOT,
      env: { PATH: process.env.PATH ?? "", PORT: "0", DATA_DIR: folder, WORKER_THREADS: "1" },
      detached: true,
      stdin: "ignore",
      stdout: said,
      stderr: said,
    });
    try {
      while (!/^Assay listens on /m.test(await said.text())) {
        if (child.exitCode !== null) throw new Error(await said.text());
        await Bun.sleep(100);
      }
      process.kill(-child.pid, "SIGINT");
      expect(await child.exited).toBe(0);
      const text = await said.text();
      expect([...text.matchAll(/^node \d: .*"clean":true,"event":"stopped"/gm)]).toHaveLength(2);
      expect(text).not.toContain("starts again");
      expect(text).not.toContain("terminating connection due to administrator command");
    } finally {
      child.kill("SIGTERM");
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test.if(isInstalled)(
  "bun run cluster has its port from its start on: no other server can take it",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "assay-cluster-port-"));
    chmodSync(folder, 0o755);
    const port = await freePort();
    const child = Bun.spawn([process.execPath, "src/tools/cluster/main.ts", "--nodes", "1"], {
      cwd: ROOT,
      env: { PATH: process.env.PATH ?? "", PORT: `${port}`, DATA_DIR: folder, WORKER_THREADS: "1" },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    try {
      await saidUntil(child.stdout, /^node 1: /m);
      const other = () => Bun.serve({ port, hostname: "127.0.0.1", fetch: () => new Response("other") });
      expect(other).toThrow(/in use/);
    } finally {
      child.kill("SIGTERM");
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test("bun run cluster reports what is wrong with its port, and starts nothing", async () => {
  using taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("ok") });
  expect(await refusedCluster(`${taken.port}`)).toBe(
    `127.0.0.1:${taken.port} is in use. Stop what listens there, or set PORT to another port.\n`,
  );
  expect(await refusedCluster("80x")).toBe('PORT must be a whole number from 0 to 65535, not "80x".\n');
});

/** Returns what the command says that ends with 1 and leaves its folder empty. */
async function refusedCluster(port: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "assay-cluster-taken-"));
  const child = Bun.spawn([process.execPath, "src/tools/cluster/main.ts", "--nodes", "1"], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? "", PORT: port, DATA_DIR: folder },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const said = await new Response(child.stderr).text();
  expect(await child.exited).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true, force: true });
  return said;
}

/** False for one that has ended, also while nobody has taken note of it. */
function isRunning(processId: number): boolean {
  try {
    return readFileSync(`/proc/${processId}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
}

async function saidUntil(output: ReadableStream<Uint8Array>, pattern: RegExp): Promise<string> {
  const reader = output.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: true });
    if (pattern.test(text)) break;
    if (done) throw new Error(`the cluster ended: ${text}`);
  }
  // What is said from now on must not fill the pipe.
  void (async () => {
    while (!(await reader.read()).done);
  })();
  return text;
}
