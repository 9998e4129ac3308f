import type { Migration } from "../../src/store/migration.ts";
import { MIGRATIONS } from "../../src/store/postgres/migrations.ts";

// Makes the server that is started after it one of the next version, whose schema has a step more.
(MIGRATIONS as Migration[]).push({
  name: "9999_next_version",
  sql: `CREATE TABLE next_version (id bigint PRIMARY KEY);
    ALTER TABLE accounts ADD COLUMN next_column text;
    CREATE INDEX next_index ON usage_events (plan_period_id)`,
});
