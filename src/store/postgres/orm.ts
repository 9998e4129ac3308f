import type { BunSQLQueryResultHKT } from "drizzle-orm/bun-sql";
import type { PgDatabase } from "drizzle-orm/pg-core";

/** A connection, or a transaction on one, as the use cases see it. */
export type Orm = PgDatabase<BunSQLQueryResultHKT, Record<string, never>>;
