import { chownSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import {
  asPostgresUser,
  postgresOwner,
  postgresPrograms,
  runCommand,
} from "../../src/tools/cluster/postgres-programs.ts";
import { freePort } from "./free-port.ts";

const PROGRAMS = postgresPrograms() ?? "";
const READY_EVERY_MS = 50;
const READY_WITHIN_MS = 30_000;

export const isPostgresInstalled = PROGRAMS !== "";

/** A real PostgreSQL server on loopback, in a folder of its own. */
export type PostgresServer = AsyncDisposable & {
  /** Returns the address of an empty database that was made for the caller. */
  readonly createDatabase: () => Promise<string>;
  /** Returns the address of a database that was restored from a backup of another one, which is in use meanwhile. */
  readonly restoreCopy: (url: string) => Promise<string>;
  /** Stops and starts the server as after a crash. */
  readonly restart: () => Promise<void>;
  /** Stops the server without warning, as a crash does. */
  readonly crash: () => Promise<void>;
  readonly start: () => Promise<void>;
  /** Stops all of its processes where they are, until `thaw`. */
  readonly freeze: () => Promise<void>;
  readonly thaw: () => Promise<void>;
  readonly port: number;
  /** Starts a standby that follows it; each commit waits until the standby has it. */
  readonly startStandby: () => Promise<Standby>;
};

export type Standby = PostgresServer & {
  /** Makes it the server that takes writes. */
  readonly promote: () => Promise<void>;
};

/** Starts a server. */
export async function startPostgres({
  isDurable = false,
  folder = tmpdir(),
}: {
  /** Commits wait for the disk, as outside of tests. */
  readonly isDurable?: boolean;
  /** Where its own folder is made; the user of PostgreSQL must have access to it. */
  readonly folder?: string;
} = {}): Promise<PostgresServer> {
  return startServer({ isDurable, within: folder }, async (data) => {
    await runCommand([...asPostgresUser(), "cp", "-a", await emptyCluster(), data]);
  });
}

/** Returns the folder of a new server that was never started: made once on this machine, as it takes most of a start. */
async function emptyCluster(): Promise<string> {
  const place = join(
    tmpdir(),
    `assay-postgres-empty-${process.getuid?.() ?? 0}${PROGRAMS.replaceAll("/", "-")}`,
  );
  if (existsSync(place)) return place;
  const folder = await postgresFolder("assay-postgres-new-");
  const data = join(folder, "data");
  const options = ["-U", "assay", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"];
  await runCommand([...asPostgresUser(), join(PROGRAMS, "initdb"), "-D", data, ...options]);
  try {
    renameSync(data, place);
  } catch (error) {
    // Another test was first.
    if (!existsSync(place)) throw error;
  }
  rmSync(folder, { recursive: true, force: true });
  return place;
}

async function postgresFolder(prefix: string, within = tmpdir()): Promise<string> {
  const folder = mkdtempSync(join(within, prefix));
  const owner = await postgresOwner();
  if (owner !== null) chownSync(folder, owner, owner);
  return folder;
}

async function startServer(
  { isDurable, within }: { readonly isDurable: boolean; readonly within: string },
  make: (data: string) => Promise<void>,
): Promise<PostgresServer> {
  const folder = await postgresFolder("assay-postgres-", within);
  const data = join(folder, "data");
  await make(data);
  const port = await freePort();
  let databases = 0;
  let server: ReturnType<typeof Bun.spawn> | undefined;
  const urlOf = (name: string) => `postgres://assay@127.0.0.1:${port}/${name}`;

  async function start(): Promise<void> {
    server = Bun.spawn(
      [
        ...asPostgresUser(),
        join(PROGRAMS, "postgres"),
        ...["-D", data, "-p", `${port}`, "-k", folder, "-h", "127.0.0.1"],
        ...[
          "-c",
          `fsync=${isDurable ? "on" : "off"}`,
          "-c",
          "max_connections=100",
          "-c",
          "log_min_messages=panic",
          "-c",
          "wal_retrieve_retry_interval=100ms",
        ],
      ],
      { stdout: "ignore", stderr: "ignore" },
    );
    const startedMs = performance.now();
    while (!(await answers(urlOf("postgres")))) {
      if (performance.now() - startedMs > READY_WITHIN_MS) throw new Error("PostgreSQL did not start");
      await Bun.sleep(READY_EVERY_MS);
    }
  }

  /** The first process and those of its connections. */
  async function processes(): Promise<number[]> {
    const first = Number((await Bun.file(join(data, "postmaster.pid")).text()).split("\n")[0]);
    const children = await Bun.file(`/proc/${first}/task/${first}/children`).text();
    return [first, ...children.trim().split(" ").filter(Boolean).map(Number)];
  }

  async function signalAll(signal: NodeJS.Signals): Promise<void> {
    for (const id of await processes()) {
      try {
        process.kill(id, signal);
      } catch {
        // A process of a connection that has ended meanwhile.
      }
    }
  }

  async function crash(): Promise<void> {
    const [first] = await processes();
    // PostgreSQL's immediate shutdown: no checkpoint, no goodbye to its clients.
    if (first !== undefined) process.kill(first, "SIGQUIT");
    await server?.exited;
  }

  async function createDatabase(): Promise<string> {
    databases += 1;
    const name = `assay_${databases}`;
    await using sql = new SQL(urlOf("postgres"), { max: 1 });
    await sql.unsafe(`CREATE DATABASE ${name}`);
    return urlOf(name);
  }

  await start();
  return {
    port,
    createDatabase,
    restoreCopy: async (url) => {
      const file = join(folder, `backup-${databases}`);
      await runCommand([join(PROGRAMS, "pg_dump"), "--format=custom", `--file=${file}`, url]);
      const copy = await createDatabase();
      await runCommand([join(PROGRAMS, "pg_restore"), "--exit-on-error", `--dbname=${copy}`, file]);
      return copy;
    },
    start,
    crash,
    restart: async () => {
      await crash();
      await start();
    },
    freeze: () => signalAll("SIGSTOP"),
    thaw: () => signalAll("SIGCONT"),
    startStandby: async () => {
      const standby = await startServer({ isDurable, within }, async (copy) => {
        const from = ["-d", `host=127.0.0.1 port=${port} user=assay application_name=standby`];
        await runCommand([
          ...asPostgresUser(),
          join(PROGRAMS, "pg_basebackup"),
          ...from,
          ...["-D", copy, "-R", "-X", "stream", "--checkpoint=fast", "--no-sync"],
        ]);
      });
      await using sql = new SQL(urlOf("postgres"), { max: 1 });
      await sql.unsafe("ALTER SYSTEM SET synchronous_standby_names = 'standby'");
      await sql.unsafe("SELECT pg_reload_conf()");
      const promote = async (): Promise<void> => {
        await using own = new SQL(`postgres://assay@127.0.0.1:${standby.port}/postgres`, { max: 1 });
        await own.unsafe("SELECT pg_promote()");
      };
      return { ...standby, promote };
    },
    [Symbol.asyncDispose]: async () => {
      await signalAll("SIGCONT").catch(() => undefined);
      await crash().catch(() => undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answers(url: string): Promise<boolean> {
  const sql = new SQL(url, { max: 1, connectionTimeout: 1 });
  try {
    await sql`SELECT 1`;
    return true;
  } catch {
    return false;
  } finally {
    await sql.close({ timeout: 0 }).catch(() => undefined);
  }
}

/** Whether something listens at a port of this machine. */
export async function isListenedOn(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => {} } });
    socket.end();
    return true;
  } catch {
    return false;
  }
}

/** Removes all rows: as fast as a new database is not, nor TRUNCATE, which makes every file of every table anew. */
export async function emptyDatabase(url: string): Promise<void> {
  await using sql = new SQL(url, { max: 1 });
  const tables: { name: string }[] = await sql`
    SELECT quote_ident(tablename) AS name FROM pg_tables
    WHERE schemaname = 'public' AND tablename <> 'migrations'`;
  const names = tables.map(({ name }) => name);
  await sql.begin(async (transaction) => {
    // No trigger refuses anything meanwhile; only a superuser may say so.
    await transaction.unsafe("SET LOCAL session_replication_role = replica");
    await transaction.unsafe(`LOCK TABLE ${names.join(", ")} IN ACCESS EXCLUSIVE MODE`);
    await transaction.unsafe(names.map((name) => `DELETE FROM ${name}`).join("; "));
    await transaction.unsafe(
      "SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) FROM pg_sequences WHERE last_value IS NOT NULL",
    );
  });
}
