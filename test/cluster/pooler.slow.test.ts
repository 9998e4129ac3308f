import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { SQL } from "bun";
import { systemClock } from "../../src/platform/clock.ts";
import type { SharedStore } from "../../src/store/port.ts";
import { openSharedStore } from "../../src/store/postgres/open.ts";
import { StorageError, StoreOpenError } from "../../src/store/storage-error.ts";
import { describeStore, NOON } from "../store/store-conformance.ts";
import { isPgBouncerInstalled, type PgBouncer, startPgBouncer } from "../support/pgbouncer.ts";
import {
  emptyDatabase,
  isPostgresInstalled,
  type PostgresServer,
  startPostgres,
} from "../support/postgres.ts";

/** The deadline of a use case, and what a busy machine adds. */
const REFUSED_WITHIN_MS = 8_000;
const isInstalled = isPostgresInstalled && isPgBouncerInstalled;

if (!isInstalled) {
  test.skip("SKIPPED: PostgreSQL or PgBouncer is not installed, so nothing behind a pooler is tested", () => {});
} else {
  let server: PostgresServer;
  let pooler: PgBouncer;
  let directUrl: string;
  let store: SharedStore;
  const others: SharedStore[] = [];

  const open = (now: () => number) =>
    openSharedStore({
      url: pooler.through(directUrl),
      directUrl,
      clock: { now, monotonic: () => performance.now() },
    });

  beforeAll(async () => {
    server = await startPostgres();
    pooler = await startPgBouncer(server.port);
    directUrl = await server.createDatabase();
    store = await open(() => NOON);
  }, 60_000);
  afterEach(() => {
    for (const other of others.splice(0)) other.close();
  });
  afterAll(async () => {
    store?.close();
    await pooler?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  describeStore("PostgreSQL behind PgBouncer in transaction mode", async () => {
    await emptyDatabase(directUrl);
    return store;
  });

  test("the start says what is missing where the address without the pooler is not set", async () => {
    const opened = openSharedStore({ url: pooler.through(directUrl), clock: systemClock });
    const refused = await opened.catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StoreOpenError);
    expect(String(refused)).toContain("Set DATABASE_DIRECT_URL to the address of the same PostgreSQL");
  });

  test("what needs the database is refused while the pooler is down, and recovers by itself", async () => {
    const node = await open(systemClock.now);
    others.push(node);
    await node.probe();
    await pooler.end();
    const startedMs = performance.now();
    // The connections that it had, and those that are tried meanwhile.
    const refused = await Promise.all([1, 2, 3].map(async () => caught(() => node.probe())));
    expect(refused.every((error) => error instanceof StorageError)).toBe(true);
    expect(performance.now() - startedMs).toBeLessThan(REFUSED_WITHIN_MS);
    await pooler.start();
    while ((await caught(() => node.probe())) !== null) await Bun.sleep(20);
    expect(node.stats().errors).toBeGreaterThanOrEqual(refused.length);
  });

  test("a change is announced past the pooler, also after a restart of PostgreSQL", async () => {
    const listening = await open(systemClock.now);
    others.push(listening);
    const changed: string[] = [];
    let resumed = 0;
    listening.listenForChanges({
      onChange: (accountId) => changed.push(accountId),
      resumed: () => {
        resumed += 1;
      },
    });
    await until(() => resumed === 1);
    await announce(directUrl, "acc_one");
    await until(() => changed.includes("acc_one"));
    await server.restart();
    await until(() => resumed >= 2);
    await announce(directUrl, "acc_two");
    await until(() => changed.includes("acc_two"));
  });
}

async function caught(work: () => unknown): Promise<unknown> {
  try {
    await work();
    return null;
  } catch (error) {
    return error;
  }
}

async function announce(url: string, accountId: string): Promise<void> {
  await using sql = new SQL(url, { max: 1 });
  await sql`SELECT pg_notify('assay_account_changed', ${accountId})`;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(10);
}
