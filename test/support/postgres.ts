import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";

/** Where Debian keeps the programs of the newest PostgreSQL server that is installed. */
const PROGRAMS =
  [...new Bun.Glob("/usr/lib/postgresql/*/bin").scanSync({ onlyFiles: false })].sort().at(-1) ?? "";
const READY_EVERY_MS = 50;
const READY_WITHIN_MS = 30_000;

export const isPostgresInstalled = PROGRAMS !== "";

/** A real PostgreSQL server on loopback, in a folder of its own. */
export type PostgresServer = AsyncDisposable & {
  /** Returns the address of an empty database that was made for the caller. */
  readonly createDatabase: () => Promise<string>;
  /** Stops and starts the server as after a crash. */
  readonly restart: () => Promise<void>;
  /** Stops the server without warning, as a crash does. */
  readonly crash: () => Promise<void>;
  readonly start: () => Promise<void>;
  /** Stops all of its processes where they are, until `thaw`. */
  readonly freeze: () => Promise<void>;
  readonly thaw: () => Promise<void>;
  readonly port: number;
};

/** Starts a server; PostgreSQL refuses to run as root, so that root lends it the user of Debian's package. */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "assay-postgres-"));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    const owner = Number((await run(["id", "-u", "postgres"])).trim());
    chownSync(folder, owner, owner);
  }
  const asUser = isRoot ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] : [];
  const data = join(folder, "data");
  await run([
    ...asUser,
    join(PROGRAMS, "initdb"),
    ...["-D", data, "-U", "assay", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"],
  ]);
  const port = await freePort();
  let databases = 0;
  let server: ReturnType<typeof Bun.spawn> | undefined;
  const urlOf = (name: string) => `postgres://assay@127.0.0.1:${port}/${name}`;

  async function start(): Promise<void> {
    server = Bun.spawn(
      [
        ...asUser,
        join(PROGRAMS, "postgres"),
        ...["-D", data, "-p", `${port}`, "-k", folder, "-h", "127.0.0.1"],
        ...["-c", "fsync=off", "-c", "max_connections=100", "-c", "log_min_messages=panic"],
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

  await start();
  return {
    port,
    createDatabase: async () => {
      databases += 1;
      const name = `assay_${databases}`;
      await using sql = new SQL(urlOf("postgres"), { max: 1 });
      await sql.unsafe(`CREATE DATABASE ${name}`);
      return urlOf(name);
    },
    start,
    crash,
    restart: async () => {
      await crash();
      await start();
    },
    freeze: () => signalAll("SIGSTOP"),
    thaw: () => signalAll("SIGCONT"),
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

async function run(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], { stdout: "pipe", stderr: "pipe" });
  const [text, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${errors}`);
  return text;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
