import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { SQL } from "bun";
import { fitsMonth, plainUnitsOfMonth } from "../../src/billing/admission.ts";
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import type { SharedStore } from "../../src/store/port.ts";
import { openSharedStore } from "../../src/store/postgres/open.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { NOON } from "../store/store-conformance.ts";
import {
  isPostgresInstalled,
  type PostgresServer,
  type Standby,
  startPostgres,
} from "../support/postgres.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { untilAnswered } from "../support/until-answered.ts";

const MONTH = { periodStart: Date.parse("2026-11-01"), periodEnd: Date.parse("2026-12-01") };
const DEADLINE_MS = 2_000;
const LONG_DEADLINE_MS = 20_000;
const CHARGES_IN_ROW = 20;
const RULES = { fits: fitsMonth, marksOf: () => [], plainUnits: plainUnitsOfMonth };

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so no failover is tested", () => {});
}

describe.if(isPostgresInstalled)("a primary and its standby", () => {
  let primary: PostgresServer;
  let standby: Standby;
  /** The standby first, so that nobody takes the first for the one that writes. */
  let url: string;
  const stores: SharedStore[] = [];

  const open = async (at = url, deadlineMs = DEADLINE_MS, clock: Clock = systemClock) => {
    const store = await openSharedStore({ url: at, clock, connectionsMax: 3, deadlineMs });
    stores.push(store);
    return store;
  };

  beforeAll(async () => {
    primary = await startPostgres();
    url = await primary.createDatabase();
    standby = await primary.startStandby();
    url = withHosts(url, [standby.port, primary.port]);
  }, 60_000);
  afterEach(() => {
    for (const store of stores.splice(0)) store.close();
  });
  afterAll(async () => {
    await standby?.[Symbol.asyncDispose]();
    await primary?.[Symbol.asyncDispose]();
  });

  /** Signs an account up; returns what charges one unit, and what is counted of it. */
  async function account(store: SharedStore) {
    const accountId = `acc_${randomUUID()}`;
    const nothing = { name: null, company: null, country: null, referralCode: null, pendingPlan: null };
    const state = { spendLimitMicroUsd: null, suspendedAt: null, erasedAt: null, plan: "free", createdAt: 1 };
    const key = { keyHash: accountId, accountId, keyId: accountId, name: null, hint: "", scopes: "verify" };
    const never = { createdAt: 1, lastUsedAt: null, expiresAt: null, rotatesAt: null, revokedAt: null };
    const price = {
      plan: "free",
      monthlyPriceMicroUsd: 0,
      includedUnits: 100_000,
      overagePriceMicroUsd: null,
    };
    await store.signUp(
      { ...nothing, ...state, accountId, email: accountId, normalized: accountId },
      { ...key, ...never },
      { ...MONTH, ...price, accountId, startsAt: MONTH.periodStart },
    );
    const planPeriodId = (await store.readMonth(accountId))?.planPeriods[0]?.planPeriodId ?? 0;
    const entry = { accountId, planPeriodId, at: NOON, endpoint: "/v1/x", units: 1, calls: 1 };
    const admissions = [{ entry, reply: null, chunk: null, rate: null }];
    const charge = (by: SharedStore, sequence: number) =>
      by.admit({ lane: "calls", sequence, admissions, others: [], keptAt: null }, RULES);
    const written = async (by: SharedStore) => ({
      counter: (await by.readMonth(accountId))?.planPeriods[0]?.units,
      events: (await by.eventUnits()).find((sum) => sum.planPeriodId === planPeriodId)?.units ?? 0,
    });
    return { charge, written };
  }

  test("a server that is unreachable without a reset is given up at the deadline, and the node recovers", async () => {
    await using proxy = startTcpProxy(primary.port);
    const store = await open(withHosts(url, [proxy.port]));
    const { charge, written } = await account(store);
    await charge(store, 1);
    proxy.swallow();
    const startedMs = performance.now();
    const refused = await Promise.all(
      [2, 2].map((sequence) => charge(store, sequence).catch((error: unknown) => error)),
    );
    const tookMs = performance.now() - startedMs;
    proxy.passOn();
    for (const error of refused) expect(error).toBeInstanceOf(StorageError);
    expect(tookMs).toBeLessThan(DEADLINE_MS * 4);
    await untilAnswered(() => charge(store, 2));
    expect(await written(store)).toEqual({ counter: 2, events: 2 });
  });

  test("a charge that waits for the standby does not block the account, and is answered once the standby has it", async () => {
    // Where no time passes all charges follow each other at once, on a machine that is busy, too.
    const store = await open(url, LONG_DEADLINE_MS, { now: systemClock.now, monotonic: () => 0 });
    const { charge, written } = await account(store);
    // Enough in a row that the server is known to be there.
    for (let sequence = 1; sequence <= CHARGES_IN_ROW; sequence += 1) await charge(store, sequence);
    await standby.freeze();
    let isAnswered = false;
    const charged = charge(store, CHARGES_IN_ROW + 1).then(({ outcomes }) => {
      isAnswered = true;
      return outcomes;
    });
    const all = CHARGES_IN_ROW + 1;
    while ((await written(store)).counter !== all) await Bun.sleep(5);
    await using other = new SQL(withHosts(url, [primary.port]), { max: 1 });
    // So that this does not wait for the standby itself.
    await other`SET synchronous_commit = off`;
    const free: readonly unknown[] = await other`SELECT 1 FROM accounts FOR UPDATE NOWAIT`;
    expect([isAnswered, free.length > 0]).toEqual([false, true]);
    await standby.thaw();
    expect(await charged).toEqual(["charged"]);
    expect(await written(store)).toEqual({ counter: all, events: all });
  });

  test("charges survive the end of the primary, each once, and a former primary that comes back gets none", async () => {
    const store = await open();
    const { charge, written } = await account(store);
    let charged = 0;
    let isOver = false;
    let failure: unknown;
    const charging = (async () => {
      for (let sequence = 1; !isOver; sequence += 1) {
        const { outcomes } = await untilAnswered(() => charge(store, sequence));
        charged += outcomes.filter((outcome) => outcome === "charged").length;
      }
    })().catch((error: unknown) => {
      failure = error;
    });
    const untilMore = async (count: number) => {
      const before = charged;
      while (charged < before + count && failure === undefined) await Bun.sleep(5);
      if (failure !== undefined) throw failure;
    };
    await untilMore(50);
    await primary.crash();
    const endedMs = performance.now();
    await standby.promote();
    await untilMore(1);
    console.log(`charged again ${Math.round(performance.now() - endedMs)} ms after the end of the primary`);
    await untilMore(50);
    await primary.start();
    await using former = new SQL(withHosts(url, [primary.port]), { max: 1 });
    const eventsOf = async () => Number((await former`SELECT count(*) AS n FROM usage_events`)[0].n);
    const before = await eventsOf();
    const later = await open();
    await untilMore(50);
    expect((await account(later)).written).toBeFunction();
    isOver = true;
    await charging;
    expect(failure).toBeUndefined();
    expect(await eventsOf()).toBe(before);
    expect(await written(later)).toEqual({ counter: charged, events: charged });
  });
});

function withHosts(url: string, ports: readonly number[]): string {
  return url.replace(/@[^/]+/, `@${ports.map((port) => `127.0.0.1:${port}`).join(",")}`);
}
