import { afterAll, beforeAll, test } from "bun:test";
import type { SharedStore } from "../../src/store/port.ts";
import { openSharedStore } from "../../src/store/postgres/open.ts";
import {
  emptyDatabase,
  isPostgresInstalled,
  type PostgresServer,
  startPostgres,
} from "../support/postgres.ts";
import { describeJobs } from "./job-conformance.ts";
import { describeStore } from "./store-conformance.ts";
import { describeWebhooks } from "./webhook-conformance.ts";

const NOON = Date.parse("2026-11-20T12:00:00Z");

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so the store on it is not tested", () => {});
} else {
  let server: PostgresServer;
  let url: string;
  let store: SharedStore;

  beforeAll(async () => {
    server = await startPostgres();
    url = await server.createDatabase();
    store = await openSharedStore({ url, clock: { now: () => NOON, monotonic: () => performance.now() } });
  }, 60_000);

  afterAll(async () => {
    store?.close();
    await server?.[Symbol.asyncDispose]();
  });

  for (const describeCases of [describeStore, describeJobs, describeWebhooks]) {
    describeCases("PostgreSQL", async () => {
      await emptyDatabase(url);
      return store;
    });
  }
}
