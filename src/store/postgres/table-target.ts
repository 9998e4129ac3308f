import { SQL, type TransactionSQL } from "bun";
import { StoreOpenError } from "../storage-error.ts";
import { createTableSum, type TableSource, type TableSum } from "../table-rows.ts";
import { urlsOf } from "./connection/database-url.ts";
import { requireOneDatabase } from "./connection/one-database.ts";
import { asOpenError } from "./connection/postgres-error.ts";
import { createPrimaryFinder } from "./connection/servers.ts";
import { withoutNul } from "./foreign-text.ts";
import { migrate } from "./migrations.ts";
import { readInBatches, type TargetColumn } from "./table-batches.ts";

/** A table that was carried over: the same in both stores. */
export type CarriedTable = TableSum & { readonly name: string };

export type Carried = {
  /** False where all of it was there already: an earlier run got no answer to its commit. */
  readonly isNew: boolean;
  readonly tables: readonly CarriedTable[];
};

const BATCH_ROWS = 2_000;
const BATCH_CHARACTERS = 4_000_000;

/** What a node that was started on an empty database has written. */
const OVERWRITTEN: ReadonlySet<string> = new Set(["kept_clock"]);

/**
 * Writes tables into an empty database of a cluster in one transaction, reads all of it back inside of that, and
 * commits only what is the same. Throws a StoreOpenError where the database has rows of its own, or lacks a table or a
 * column that holds something.
 */
export async function carryTables(options: {
  readonly url: string;
  /** The way to the same database through a pooler, which nodes take; null where they take none. */
  readonly pooledUrl: string | null;
  readonly at: number;
  readonly tables: readonly TableSource[];
}): Promise<Carried> {
  const { url, pooledUrl } = options;
  const sql = await connect(url);
  try {
    if (pooledUrl !== null) await requireOneDatabase(sql, { urls: urlsOf(pooledUrl), isPooled: true });
    await migrate(sql, options.at);
    return await sql.begin((transaction) => carry(transaction, options.tables.map(asTaken)));
  } catch (error) {
    throw asOpenError(error, pooledUrl === null ? "DATABASE_URL" : "DATABASE_DIRECT_URL");
  } finally {
    await sql.close({ timeout: 0 }).catch(() => undefined);
  }
}

/** The table with its texts as the server takes them: answers of receivers, among others, may have a NUL. */
function asTaken(table: TableSource): TableSource {
  return {
    ...table,
    *rows() {
      for (const row of table.rows()) yield row.map((text) => (text === null ? null : withoutNul(text)));
    },
  };
}

async function connect(text: string): Promise<SQL> {
  const url = await createPrimaryFinder({ urls: urlsOf(text), isPooled: false }).find();
  return new SQL({ url, max: 1, connectionTimeout: 5, connection: { application_name: "assay migration" } });
}

type Target = { readonly source: TableSource; readonly columns: readonly TargetColumn[] };

async function carry(sql: TransactionSQL, sources: readonly TableSource[]): Promise<Carried> {
  const targets: Target[] = [];
  for (const source of sources) {
    const columns = await columnsOf(sql, source);
    if (columns !== null) targets.push({ source, columns });
  }
  // Nobody signs up or charges meanwhile.
  const names = targets.map(({ source }) => source.name);
  await sql.unsafe(`LOCK TABLE ${names.join(", ")} IN ACCESS EXCLUSIVE MODE`);
  const filled = await filledOf(sql, names);
  if (filled.length > 0) {
    const tables = await compareAll(sql, targets);
    if (tables !== null) return { isNew: false, tables };
    throw new StoreOpenError(
      `The database has rows of its own (in ${filled.join(", ")}). Name an empty one: CREATE DATABASE, or dropdb and createdb.`,
    );
  }
  // References lead to accounts.
  const ordered = targets.toSorted((one, other) => rank(one) - rank(other));
  for (const target of ordered) await load(sql, target);
  const tables = await compareAll(sql, targets);
  if (tables === null)
    throw new StoreOpenError("What was written is not what was read; nothing was changed.");
  return { isNew: true, tables };
}

const rank = ({ source }: Target): number => (source.name === "accounts" ? 0 : 1);

/** Returns the columns of a table; null for one that is not there and would stay empty. */
async function columnsOf(sql: TransactionSQL, source: TableSource): Promise<readonly TargetColumn[] | null> {
  const rows: readonly { name: string; type: string; identity: string }[] = await sql`
    SELECT column_name AS name, data_type AS type, is_identity AS identity
    FROM information_schema.columns WHERE table_schema = 'public' AND table_name = ${source.name}`;
  const known = new Map(rows.map((row) => [row.name, row]));
  const [first] = source.rows();
  if (known.size === 0 && first === undefined) return null;
  return source.columns.map((name) => {
    const column = known.get(name);
    if (column === undefined) {
      throw new StoreOpenError(`A cluster has no place for ${source.name}.${name}; nothing was changed.`);
    }
    return { name, type: column.type, isIdentity: column.identity === "YES" };
  });
}

async function filledOf(sql: TransactionSQL, names: readonly string[]): Promise<readonly string[]> {
  const filled: string[] = [];
  for (const name of names) {
    if (OVERWRITTEN.has(name)) continue;
    const found: readonly unknown[] = await sql.unsafe(`SELECT 1 FROM ${name} LIMIT 1`);
    if (found.length > 0) filled.push(name);
  }
  return filled;
}

async function load(sql: TransactionSQL, { source, columns }: Target): Promise<void> {
  const { name } = source;
  if (OVERWRITTEN.has(name)) await sql.unsafe(`DELETE FROM ${name}`);
  const list = source.columns.join(", ");
  const insert = `INSERT INTO ${name} (${list}) OVERRIDING SYSTEM VALUE
    SELECT ${list} FROM json_populate_recordset(NULL::${name}, $1::text::json)`;
  let batch: string[] = [];
  let characters = 0;
  const write = async (): Promise<void> => {
    if (batch.length === 0) return;
    await sql.unsafe(insert, [`[${batch.join(",")}]`]);
    batch = [];
    characters = 0;
  };
  for (const row of source.rows()) {
    const text = JSON.stringify(Object.fromEntries(source.columns.map((column, at) => [column, row[at]])));
    batch.push(text);
    characters += text.length;
    if (batch.length >= BATCH_ROWS || characters >= BATCH_CHARACTERS) await write();
  }
  await write();
  for (const column of columns) {
    if (!column.isIdentity) continue;
    await sql.unsafe(
      `SELECT setval(pg_get_serial_sequence('${name}', '${column.name}'), greatest(max(${column.name}), 1), max(${column.name}) IS NOT NULL) FROM ${name}`,
    );
  }
}

/** Returns the sums of all tables; null where one is another than its source. */
async function compareAll(
  sql: TransactionSQL,
  targets: readonly Target[],
): Promise<readonly CarriedTable[] | null> {
  const tables: CarriedTable[] = [];
  for (const target of targets) {
    const expected = createTableSum();
    for (const row of target.source.rows()) expected.add(row);
    const { rows, sum } = expected.result();
    const found = await sumOf(sql, target);
    if (found.rows !== rows || found.sum !== sum) return null;
    tables.push({ name: target.source.name, rows, sum });
  }
  return tables;
}

async function sumOf(sql: TransactionSQL, { source, columns }: Target): Promise<TableSum> {
  const sum = createTableSum();
  for await (const rows of readInBatches(sql, source.name, columns, BATCH_CHARACTERS)) {
    for (const row of rows) sum.add(row);
  }
  return sum.result();
}
