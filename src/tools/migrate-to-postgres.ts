import { readConfig } from "../app/settings.ts";
import { migratedBody } from "../billing/body-in-row.ts";
import { nounOf } from "../contract/noun.ts";
import { systemClock } from "../platform/clock.ts";
import { carryTables } from "../store/postgres/table-target.ts";
import { openTables } from "../store/sqlite/table-source.ts";
import type { TableSource } from "../store/table-rows.ts";
import { fail, runCommand } from "./command.ts";

// Carries the database of DATA_DIR into the empty PostgreSQL of DATABASE_URL, all of it or nothing. The server of
// DATA_DIR must be stopped.

/** What a server writes for itself alone, and what only the process that was asked reads. */
const LEFT_OUT: ReadonlySet<string> = new Set(["migrations", "probes", "operator_commands"]);
/** Some of their bodies are files. */
const REPLIES = "idempotent_replies";

async function main(): Promise<number> {
  if (process.argv.length > 2)
    return fail("It takes no argument: DATA_DIR names what is carried, DATABASE_URL where to.");
  const { dataDir, databaseUrl, databaseDirectUrl } = readConfig(
    {
      DATA_DIR: process.env.DATA_DIR,
      DATABASE_URL: process.env.DATABASE_URL,
      DATABASE_DIRECT_URL: process.env.DATABASE_DIRECT_URL,
    },
    1,
  );
  const url = databaseDirectUrl ?? databaseUrl;
  const pooledUrl = databaseDirectUrl === null ? null : databaseUrl;
  if (url === null) return fail("Set DATABASE_URL to the empty database of the cluster.");
  const startedMs = systemClock.monotonic();
  using source = openTables({ dataDir, clock: systemClock });
  const problem = source.disagreement();
  if (problem !== null) return fail(`${problem} Nothing was changed.`);
  const tables = source.tables
    .filter(({ name }) => !LEFT_OUT.has(name))
    .map((table) => withBodies(table, dataDir));
  const { isNew, tables: carried } = await carryTables({
    url,
    pooledUrl,
    at: Math.floor(systemClock.now()),
    tables,
  });
  const seconds = ((systemClock.monotonic() - startedMs) / 1000).toFixed(1);
  for (const { name, rows, sum } of carried) {
    if (rows > 0)
      process.stdout.write(
        `${name.padEnd(20)} ${String(rows).padStart(10)} ${nounOf(rows, "row").padEnd(4)}  ${sum}\n`,
      );
  }
  const { units, invoicedMicroUsd } = source.totals();
  process.stdout.write(
    `${units} ${nounOf(units, "unit")} in events as in counters, ${invoicedMicroUsd} micro-USD invoiced: the same in both, checked row by row in ${seconds} s\n`,
  );
  const kept = carried.find(({ name }) => name === REPLIES)?.rows ?? 0;
  const lost = source.count(REPLIES, "true") - kept;
  if (lost > 0)
    process.stdout.write(
      `${lost} kept ${lost === 1 ? "reply" : "replies"} of batches left out, whose files are gone or over 64 MiB: sent again, these are charged.\n`,
    );
  process.stdout.write(
    isNew
      ? "All of it is in PostgreSQL. Start the nodes, and do not start a server on this DATA_DIR again without DATABASE_URL.\n"
      : "All of it was in PostgreSQL already: nothing was changed.\n",
  );
  return 0;
}

/** Has the bodies that are files in the rows of kept replies; leaves out those that are gone. */
function withBodies(table: TableSource, dataDir: string): TableSource {
  if (table.name !== REPLIES) return table;
  const [filePlace, bodyPlace] = [table.columns.indexOf("body_file"), table.columns.indexOf("body")];
  return {
    ...table,
    *rows() {
      for (const row of table.rows()) {
        const file = row[filePlace] ?? null;
        const body = file === null ? null : migratedBody(dataDir, file);
        if (file === null) yield row;
        else if (body !== null) yield row.with(bodyPlace, body);
      }
    },
  };
}

await runCommand(main);
