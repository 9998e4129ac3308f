import { resolve } from "node:path";
import { readConfig } from "../app/settings.ts";
import { systemClock } from "../platform/clock.ts";
import { commandNamed } from "../platform/command-name.ts";
import { backupDatabase } from "../store/sqlite/data-dir/backup.ts";
import { fail, runFileCommand } from "./command.ts";

const USAGE = `${commandNamed("backup")} FILE copies the database of DATA_DIR to it, while the server runs or not. Name one file that does not exist yet.`;

/** Copies the database of DATA_DIR to the file named as the only argument. Other settings do not matter here. */
function main(target: string | undefined): number {
  if (target === undefined) return fail(USAGE);
  const { dataDir, databaseUrl } = readConfig(
    { DATA_DIR: process.env.DATA_DIR, DATABASE_URL: process.env.DATABASE_URL },
    1,
  );
  // What was carried into a cluster is still in DATA_DIR, as it was then.
  if (databaseUrl !== null) {
    return fail(
      "DATABASE_URL is set: what a cluster holds is in its PostgreSQL, which pg_dump --format=custom backs up. To copy the database of DATA_DIR all the same, unset it.",
    );
  }
  const toPath = resolve(target);
  const startedMs = systemClock.monotonic();
  const { bytes } = backupDatabase({ dataDir, toPath });
  const seconds = ((systemClock.monotonic() - startedMs) / 1000).toFixed(2);
  process.stdout.write(`${toPath}: ${(bytes / 1e6).toFixed(1)} MB in ${seconds} s\n`);
  return 0;
}

await runFileCommand(USAGE, main);
