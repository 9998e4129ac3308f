import type { Database } from "bun:sqlite";
import type { Clock } from "../../platform/clock.ts";
import type { TableSource, TextRow } from "../table-rows.ts";
import { lockDataDir } from "./data-dir/data-dir-lock.ts";
import { asOpenError, openDatabaseFile, requireDatabase } from "./data-dir/database-file.ts";
import { migrate } from "./migrations.ts";
import { openStore } from "./open.ts";

export type DataDirTables = Disposable & {
  readonly tables: readonly TableSource[];
  /** Returns how many rows of a table fulfil a condition of SQL. */
  readonly count: (table: string, condition: string) => number;
  /** Returns a sentence where events, counters, days and invoices are not of the same units; null where they are. */
  readonly disagreement: () => string | null;
  readonly totals: () => { readonly units: number; readonly invoicedMicroUsd: number };
};

/**
 * Opens all tables of a data directory to be read, brought to the newest schema, and keeps servers from it meanwhile.
 * Throws a StoreOpenError where there is no database, or a server runs on it.
 */
export function openTables({
  dataDir,
  clock,
}: {
  readonly dataDir: string;
  readonly clock: Clock;
}): DataDirTables {
  const path = requireDatabase(dataDir);
  putBack(dataDir, clock);
  const lock = lockDataDir(dataDir);
  let database: Database | undefined;
  try {
    const opened = openDatabaseFile(path);
    database = opened;
    migrate(opened, clock);
    return {
      tables: namesOf(opened).map((name) => tableOf(opened, name)),
      count: (table, condition) => numberOf(opened, `SELECT count(*) AS n FROM ${table} WHERE ${condition}`),
      disagreement: () => disagreementOf(opened),
      totals: () => ({
        units: numberOf(opened, "SELECT sum(units) AS n FROM usage_events"),
        invoicedMicroUsd: numberOf(opened, "SELECT sum(total_micro_usd) AS n FROM invoices"),
      }),
      [Symbol.dispose]: () => {
        opened.close(true);
        lock.release();
      },
    };
  } catch (error) {
    database?.close(true);
    lock.release();
    throw asOpenError(path, error);
  }
}

/** Puts back what the last server had in work: no node would know whose it is. */
function putBack(dataDir: string, clock: Clock): void {
  const store = openStore({ dataDir, clock });
  try {
    store.reapChunks();
    store.reapDeliveries();
  } finally {
    store.close();
  }
}

function namesOf(database: Database): readonly string[] {
  const rows = database
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .all();
  return rows.map(({ name }) => name);
}

function tableOf(database: Database, name: string): TableSource {
  const columns = database
    .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${name}')`)
    .all()
    .map((column) => column.name);
  const texts = columns.map(
    (column) =>
      `CASE typeof(${column}) WHEN 'blob' THEN '\\x' || lower(hex(${column})) ELSE CAST(${column} AS TEXT) END AS ${column}`,
  );
  return {
    name,
    columns,
    *rows(): Iterable<TextRow> {
      const read = database.query<Record<string, string | null>, []>(
        `SELECT ${texts.join(", ")} FROM ${name}`,
      );
      for (const row of read.iterate()) yield Object.values(row);
    },
  };
}

function numberOf(database: Database, sql: string): number {
  return database.query<{ n: number | null }, []>(sql).get()?.n ?? 0;
}

function disagreementOf(database: Database): string | null {
  const counters = numberOf(
    database,
    `SELECT count(*) AS n FROM plan_periods p LEFT JOIN
      (SELECT plan_period_id, sum(units) AS units FROM usage_events GROUP BY plan_period_id) e
      ON e.plan_period_id = p.plan_period_id WHERE p.units <> coalesce(e.units, 0)`,
  );
  if (counters > 0) return `Plan periods that count other units than their events: ${counters}.`;
  const days = numberOf(
    database,
    `SELECT count(*) AS n FROM (SELECT account_id, sum(units) AS units FROM usage_events GROUP BY account_id) e
      LEFT JOIN (SELECT account_id, sum(units) AS units FROM usage_days GROUP BY account_id) d
      ON d.account_id = e.account_id WHERE e.units <> coalesce(d.units, 0)`,
  );
  if (days > 0) return `Accounts whose days count other units than their events: ${days}.`;
  const invoices = numberOf(
    database,
    `SELECT count(*) AS n FROM invoices i LEFT JOIN
      (SELECT invoice_id, sum(units) AS units FROM plan_periods GROUP BY invoice_id) p
      ON p.invoice_id = i.invoice_id WHERE i.units <> coalesce(p.units, 0)`,
  );
  return invoices > 0 ? `Invoices of other units than their plan periods: ${invoices}.` : null;
}
