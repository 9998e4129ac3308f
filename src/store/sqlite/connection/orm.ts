import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";

/** The connection as the stores of each subject see it. */
export type Orm = BunSQLiteDatabase<Record<string, never>>;
