import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asPostgresUser, postgresOwner } from "../../src/tools/cluster/postgres-programs.ts";
import { freePort } from "./free-port.ts";
import { isListenedOn } from "./postgres.ts";

const PROGRAM = Bun.which("pgbouncer", { PATH: `${process.env.PATH ?? ""}:/usr/sbin` });
const READY_EVERY_MS = 30;
const READY_WITHIN_MS = 20_000;

export const isPgBouncerInstalled = PROGRAM !== null;

/** PgBouncer in transaction mode before a PostgreSQL on loopback. */
export type PgBouncer = AsyncDisposable & {
  /** Returns the address of a database through it. */
  readonly through: (url: string) => string;
  /** Ends it without warning, with all connections. */
  readonly end: () => Promise<void>;
  readonly start: () => Promise<void>;
};

/** Starts it before all databases of the server at a port; it refuses to run as root. */
export async function startPgBouncer(postgresPort: number): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), "assay-pgbouncer-"));
  const owner = await postgresOwner();
  const port = await freePort();
  const config = join(folder, "pgbouncer.ini");
  writeFileSync(
    config,
    `[databases]
* = host=127.0.0.1 port=${postgresPort} user=assay
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 5
max_client_conn = 200
server_login_retry = 1
`,
  );
  chmodSync(folder, 0o755);
  if (owner !== null) chownSync(folder, owner, owner);
  let child: ReturnType<typeof Bun.spawn> | undefined;

  async function start(): Promise<void> {
    child = Bun.spawn([...asPostgresUser(), PROGRAM ?? "pgbouncer", "-q", config], {
      stdout: "ignore",
      stderr: "ignore",
    });
    const startedMs = performance.now();
    while (!(await isListenedOn(port))) {
      if (performance.now() - startedMs > READY_WITHIN_MS) throw new Error("PgBouncer did not start");
      await Bun.sleep(READY_EVERY_MS);
    }
  }

  async function end(): Promise<void> {
    child?.kill("SIGKILL");
    await child?.exited;
  }

  await start();
  return {
    through: (url) => url.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${port}`),
    start,
    end,
    [Symbol.asyncDispose]: async () => {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
