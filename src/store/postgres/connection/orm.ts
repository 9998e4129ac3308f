import { sql } from "drizzle-orm";
import type { BunSQLQueryResultHKT } from "drizzle-orm/bun-sql";
import type { PgDatabase } from "drizzle-orm/pg-core";

/** A connection, or a transaction on one, as the use cases see it. */
export type Orm = PgDatabase<BunSQLQueryResultHKT, Record<string, never>>;

/**
 * Returns what runs a prepared query on any connection: built once, as the building of its text takes several times as
 * long as the round trip. What changes from call to call enters by placeholders.
 */
export function builtOnce<Query extends object>(build: (orm: Orm) => Query): (orm: Orm) => Query {
  let built: Query | null = null;
  return (orm) => {
    built ??= build(orm);
    // A prepared query of Drizzle's keeps the connection that it was built for.
    return Object.assign(Object.create(built), { client: clientOf(orm) });
  };
}

/** The driver's connection below a transaction or a pool. */
const clientOf = (orm: Orm): unknown => (orm._.session as unknown as { readonly client: unknown }).client;

/** Returns texts as a literal of an array of the server's: lists of any length have one statement. */
export function arrayOf(values: readonly (string | number)[]): string {
  return `{${values.map((value) => (typeof value === "number" ? value : JSON.stringify(value))).join(",")}}`;
}

/** Returns rows as a literal of an array of one of the server's composite types. */
export function rowsOf(rows: readonly (readonly (string | number | null)[])[]): string {
  return `{${rows.map((row) => quoted(`(${row.map(fieldOf).join(",")})`)).join(",")}}`;
}

const PLAIN = /^[\w./:-]+$/;

/** Names, days and numbers, which are most of what is sent, mean the same without quotes. */
function fieldOf(value: string | number | null): string {
  if (value === null) return "";
  return typeof value === "number" || PLAIN.test(value) ? `${value}` : quoted(value);
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** A list that enters by a placeholder, as `arrayOf` writes it. */
export const listIn = (name: string, type: "text" | "bigint") =>
  sql`ANY(${sql.placeholder(name)}::text::${sql.raw(type)}[])`;
