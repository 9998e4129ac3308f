import { chownSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { SQL } from "bun";
import { type Child, endedWithParent, startChild } from "./children.ts";
import type { HeldPort } from "./held-port.ts";
import { asPostgresUser, postgresOwner, runCommand } from "./postgres-programs.ts";

const READY_EVERY_MS = 100;
const READY_WITHIN_MS = 60_000;
/**
 * PostgreSQL waits for its clients at a SIGTERM and ends them at a SIGINT. Nodes that have just ended are clients until it
 * has read the end of their connections.
 */
const INSISTENCE = { signal: "SIGINT", afterMs: 2_000 } as const;

/**
 * Starts a PostgreSQL on loopback whose data is in a folder, made where it is missing. It refuses to run as root,
 * which therefore lends it the user of Debian's package.
 */
export async function startPostgres(
  programs: string,
  wanted: string,
  { port, release }: HeldPort,
): Promise<{ readonly url: string; readonly child: Child }> {
  const asUser = asPostgresUser();
  const owner = await postgresOwner();
  const folder = owner === null ? wanted : await reachable(wanted, asUser);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (owner !== null) chownSync(folder, owner, owner);
  const data = join(folder, "data");
  const made = ["-D", data, "-U", "assay", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"];
  if (!existsSync(data)) await runCommand([...asUser, join(programs, "initdb"), ...made]);
  const served = ["-D", data, "-p", `${port}`, "-k", folder, "-h", "127.0.0.1", "-c", "max_connections=300"];
  // In this order: a change of the user would take the signal back.
  const command = [...asUser, ...endedWithParent("SIGINT"), join(programs, "postgres"), ...served];
  await release();
  const child = startChild("postgres", command, {}, INSISTENCE);
  const urlOf = (name: string): string => `postgres://assay@127.0.0.1:${port}/${name}`;
  await createDatabase(urlOf("postgres"));
  return { url: urlOf("assay"), child };
}

/** Returns the folder, or one in /var/tmp where another user cannot reach it. */
async function reachable(wanted: string, asUser: readonly string[]): Promise<string> {
  const child = Bun.spawn([...asUser, "test", "-x", dirname(wanted)], { stderr: "ignore" });
  if ((await child.exited) === 0) return wanted;
  return join("/var/tmp", `assay-postgres-${Bun.hash(wanted).toString(36)}`);
}

/** Makes the database where it is missing, once the server answers. */
async function createDatabase(url: string): Promise<void> {
  const startedMs = performance.now();
  for (;;) {
    const sql = new SQL(url, { max: 1, connectionTimeout: 1 });
    try {
      const found: readonly unknown[] = await sql`SELECT 1 FROM pg_database WHERE datname = 'assay'`;
      if (found.length === 0) await sql.unsafe("CREATE DATABASE assay");
      return;
    } catch (error) {
      if (performance.now() - startedMs > READY_WITHIN_MS) throw error;
      await Bun.sleep(READY_EVERY_MS);
    } finally {
      await sql.close({ timeout: 0 }).catch(() => undefined);
    }
  }
}
