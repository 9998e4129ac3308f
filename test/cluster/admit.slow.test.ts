import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { SQL } from "bun";
import { systemRandomBytes } from "../../src/accounts/api-key.ts";
import { createKeyRing } from "../../src/accounts/key-ring.ts";
import { rotateKey } from "../../src/accounts/key-rotation.ts";
import { readConfig } from "../../src/app/settings.ts";
import { fitsMonth, plainUnitsOfMonth } from "../../src/billing/admission.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { ReplyRecord } from "../../src/store/account-records.ts";
import type { Admission, AdmissionRate } from "../../src/store/admit-port.ts";
import type { SharedStore } from "../../src/store/port.ts";
import { migrate } from "../../src/store/postgres/migrations.ts";
import { openSharedStore } from "../../src/store/postgres/open.ts";
import { StorageError, StoreOpenError } from "../../src/store/storage-error.ts";
import { NOON } from "../store/store-conformance.ts";
import { isPostgresInstalled, type PostgresServer, startPostgres } from "../support/postgres.ts";
import { untilAnswered } from "../support/until-answered.ts";

const RULES = { fits: fitsMonth, marksOf: () => [], plainUnits: plainUnitsOfMonth };
const MONTH = { periodStart: Date.parse("2026-11-01"), periodEnd: Date.parse("2026-12-01") };
/** Far from what a busy machine takes; a frozen server is waited for no longer. */
const DEADLINE_MS = 10_000;
const SHORT_DEADLINE_MS = 2_000;
/** Linux' own view of connections: a state, and a timer with the ticks until it fires. */
const TCP_TABLE = "/proc/net/tcp";
const ESTABLISHED = "01";
const KEEPALIVE = "02";
const TICKS_PER_SECOND = 100;
/** Linux would ask after two hours. */
const ASKED_WITHIN_SECONDS = 15;

describe.if(isPostgresInstalled)("a store that several processes write to", () => {
  let server: PostgresServer;
  let url: string;
  const stores: SharedStore[] = [];

  const open = async (deadlineMs = DEADLINE_MS, at = url) => {
    const store = await openSharedStore({
      url: at,
      clock: systemClock,
      connectionsMax: 3,
      deadlineMs,
    });
    stores.push(store);
    return store;
  };

  beforeAll(async () => {
    server = await startPostgres();
    url = await server.createDatabase();
  }, 60_000);
  afterEach(() => {
    for (const store of stores.splice(0)) store.close();
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  /** An account of the free plan that has `units` in the month; returns what charges it. */
  async function account(store: SharedStore, units: number) {
    const accountId = `acc_${randomUUID()}`;
    const nothing = { name: null, company: null, country: null, referralCode: null, pendingPlan: null };
    const state = { spendLimitMicroUsd: null, suspendedAt: null, erasedAt: null };
    await store.signUp(
      {
        ...nothing,
        ...state,
        accountId,
        email: accountId,
        normalized: accountId,
        plan: "free",
        createdAt: 1,
      },
      {
        ...{ keyHash: accountId, accountId, keyId: accountId, name: null, hint: "", scopes: "verify" },
        ...{ createdAt: 1, lastUsedAt: null, expiresAt: null, rotatesAt: null, revokedAt: null },
      },
      {
        ...{ ...MONTH, accountId, plan: "free", monthlyPriceMicroUsd: 0, includedUnits: units },
        ...{ overagePriceMicroUsd: null, startsAt: MONTH.periodStart },
      },
    );
    const planPeriodId = (await store.readMonth(accountId))?.planPeriods[0]?.planPeriodId ?? 0;
    const charge = (
      charged: number,
      reply: ReplyRecord | null = null,
      rate: AdmissionRate | null = null,
    ): Admission => ({
      entry: { accountId, planPeriodId, at: NOON, endpoint: "/v1/x", units: charged, calls: 1 },
      reply,
      chunk: null,
      rate,
    });
    const written = async () => ({
      counter: (await store.readMonth(accountId))?.planPeriods[0]?.units,
      events: (await store.eventUnits()).find((sum) => sum.planPeriodId === planPeriodId)?.units ?? 0,
    });
    return { accountId, charge, written };
  }

  const group = (sequence: number, admissions: readonly Admission[]) => ({
    ...{ lane: "calls" as const, sequence, admissions, others: [], keptAt: null },
  });

  test("a thousand charges through three processes with ten units left are exactly ten", async () => {
    const nodes = await Promise.all([open(), open(), open()]);
    const [first] = nodes;
    if (first === undefined) throw new Error("no store");
    const { charge, written } = await account(first, 10);
    const outcomes = await Promise.all(
      nodes.map(async (node) => {
        const all = [];
        for (let sequence = 1; sequence <= 34; sequence += 1) {
          const asked = Array.from({ length: 10 }, () => charge(1));
          all.push(...(await node.admit(group(sequence, asked), RULES)).outcomes);
        }
        return all;
      }),
    );
    const flat = outcomes.flat();
    expect(flat).toHaveLength(1_020);
    expect(flat.filter((outcome) => outcome === "charged")).toHaveLength(10);
    expect(flat.filter((outcome) => outcome === "quota")).toHaveLength(1_010);
    expect(await written()).toEqual({ counter: 10, events: 10 });
  });

  test("a group that is sent again is written once, and answered the same", async () => {
    const node = await open();
    const { charge, written } = await account(node, 5);
    const asked = group(1, [charge(3), charge(3), charge(2)]);
    const first = await node.admit(asked, RULES);
    expect(first.outcomes).toEqual(["charged", "quota", "charged"]);
    expect((await node.admit(asked, RULES)).outcomes).toEqual(first.outcomes);
    expect(await written()).toEqual({ counter: 5, events: 5 });
  });

  test("a process that has cached a month far from its limit decides by what others have charged since", async () => {
    const [one, two] = [await open(), await open()];
    const { charge, written } = await account(one, 100);
    const third = group(3, [charge(10), charge(0)]);
    for (const asked of [group(1, [charge(10)]), group(2, [charge(10)]), third, third]) {
      expect((await one.admit(asked, RULES)).outcomes).toEqual(asked.admissions.map(() => "charged"));
    }
    expect(await written()).toEqual({ counter: 30, events: 30 });
    expect((await two.admit(group(1, [charge(40), charge(25)]), RULES)).outcomes).toEqual([
      "charged",
      "charged",
    ]);
    expect((await one.admit(group(4, [charge(6), charge(5)]), RULES)).outcomes).toEqual(["quota", "charged"]);
    expect(await written()).toEqual({ counter: 100, events: 100 });
  });

  test("charges of several accounts from several processes never deadlock", async () => {
    const nodes = await Promise.all([open(), open(), open()]);
    const [first] = nodes;
    if (first === undefined) throw new Error("no store");
    const accounts = await Promise.all(Array.from({ length: 8 }, () => account(first, 1_000)));
    await Promise.all(
      nodes.map(async (node, place) => {
        for (let sequence = 1; sequence <= 20; sequence += 1) {
          const order = place === 0 ? accounts : [...accounts].reverse();
          await node.admit(
            group(
              sequence,
              order.map(({ charge }) => charge(1)),
            ),
            RULES,
          );
        }
      }),
    );
    for (const { written } of accounts) expect(await written()).toEqual({ counter: 60, events: 60 });
  });

  test("a rate applies to all processes together, and calls that took long are no burst", async () => {
    const nodes = await Promise.all([open(), open()]);
    const [first] = nodes;
    if (first === undefined) throw new Error("no store");
    const quick = { stepMs: 60_000, burstMs: 300_000, ageMs: 0 };
    const { charge } = await account(first, 1_000);
    const outcomes = await Promise.all(
      nodes.map((node) =>
        node.admit(
          group(
            1,
            Array.from({ length: 5 }, () => charge(1, null, quick)),
          ),
          RULES,
        ),
      ),
    );
    const charged = outcomes.flatMap((each) => each.outcomes).filter((outcome) => outcome === "charged");
    expect(charged).toHaveLength(5);
    const single = await account(first, 1_000);
    const one = single.charge(1, null, quick);
    const turns = [];
    for (let turn = 0; turn < 8; turn += 1) {
      const node = nodes[turn % 2] ?? first;
      turns.push(...(await node.admit(group(3 + turn, [one]), RULES)).outcomes);
    }
    expect(turns).toEqual([...new Array(5).fill("charged"), ...new Array(3).fill("rate")]);
    const other = await account(first, 1_000);
    const slow = Array.from({ length: 7 }, () => other.charge(1, null, { ...quick, ageMs: 120_000 }));
    expect((await first.admit(group(20, slow), RULES)).outcomes).toEqual(slow.map(() => "charged"));
  });

  test("an Idempotency-Key belongs to one process at a time, and charges only while it does", async () => {
    const [one, two] = [await open(), await open()];
    const { accountId, charge, written } = await account(one, 10);
    const reply: ReplyRecord = {
      ...{ accountId, idempotencyKey: randomUUID(), fingerprint: "f", status: 200, bodyBytes: 1 },
      ...{ expiresAt: NOON, headers: "{}", bodyFile: null, body: "x" },
    };
    expect(await one.claimKey(accountId, reply.idempotencyKey, "f")).toEqual({ isClaimed: true });
    expect(await two.claimKey(accountId, reply.idempotencyKey, "g")).toEqual({
      isClaimed: false,
      fingerprint: "f",
    });
    expect((await two.admit(group(1, [charge(1, reply)]), RULES)).outcomes).toEqual(["claim_lost"]);
    expect((await one.admit(group(1, [charge(1, reply)]), RULES)).outcomes).toEqual(["charged"]);
    expect(await two.findReply(accountId, reply.idempotencyKey)).toEqual(reply);
    expect(await two.claimKey(accountId, reply.idempotencyKey, "g")).toEqual({ isClaimed: true });
    await two.releaseKey(accountId, reply.idempotencyKey);
    expect(await written()).toEqual({ counter: 1, events: 1 });
  });

  test("a change of an account's keys is seen by the other processes", async () => {
    const [one, two] = [await open(), await open()];
    const { accountId } = await account(one, 10);
    expect(await two.changedAccounts(60_000)).not.toContain(accountId);
    expect(await one.revokeKey(accountId, accountId, NOON, () => {})).toBe(true);
    expect(await two.changedAccounts(60_000)).toContain(accountId);
    expect((await two.findKey(accountId))?.revokedAt).toBe(NOON);
  });

  test("a key that has ended by the shared clock does not count as working on a node whose clock is behind", async () => {
    const store = await open();
    const { accountId } = await account(store, 10);
    const now = Date.now();
    const ended = `${accountId} ended`;
    const never = { lastUsedAt: null, rotatesAt: null, revokedAt: null };
    await store.addKey(
      {
        ...{ keyHash: ended, accountId, keyId: ended, name: null, hint: "", scopes: "verify", ...never },
        ...{ createdAt: 1, expiresAt: now - 60_000 },
      },
      10,
      null,
    );
    let left: readonly string[] = [];
    const isRevoked = await store.revokeKey(accountId, accountId, now - 3_600_000, (working) => {
      left = working.map(({ keyId }) => keyId);
    });
    expect([isRevoked, left]).toEqual([true, [accountId]]);
  });

  test.each([60_000, -60_000])(
    "a key that was rotated on a node whose clock is %d ms off works on no other node",
    async (offsetMs) => {
      const [one, two] = [await open(), await open()];
      const { accountId } = await account(one, 10);
      const plans = readConfig({}, 1).plans;
      const dependencies = (store: SharedStore, offMs: number) => {
        const clock = { now: () => systemClock.now() + offMs, monotonic: systemClock.monotonic };
        return { store, clock, plans, randomBytes: systemRandomBytes };
      };
      const [first, other] = [dependencies(one, offsetMs), dependencies(two, -offsetMs)];
      const [rotating, asking] = [createKeyRing(first), createKeyRing(other)];
      const rotate = (overlapSeconds: number) =>
        rotateKey({ ...first, keyRing: rotating }, accountId, { overlapSeconds }, () => null);
      const { apiKey } = await rotate(0);
      expect(await asking.find(apiKey)).toMatchObject({ accountId });
      const { apiKey: next } = await rotate(0);
      asking.forget(accountId);
      expect(await asking.find(apiKey)).toBeNull();
      expect(await asking.find(next)).toMatchObject({ accountId });
      await rotate(3_600);
      asking.forget(accountId);
      expect(await asking.find(next)).toMatchObject({ accountId });
    },
  );

  test.if(existsSync(TCP_TABLE))(
    "the server sends keepalives within seconds, so that connections of a lost machine end",
    async () => {
      const node = await open();
      node.listenForChanges({ onChange: () => {}, resumed: () => {} });
      await account(node, 10);
      /** For each connection, as the server has it, in how many seconds it asks; null where it waits for an answer. */
      const asksAfterSeconds = (): readonly (number | null)[] =>
        readFileSync(TCP_TABLE, "utf8")
          .split("\n")
          .flatMap((line) => {
            const [, local = "", , state, , timer = ""] = line.trim().split(/\s+/);
            const port = Number.parseInt(local.split(":")[1] ?? "", 16);
            if (port !== server.port || state !== ESTABLISHED) return [];
            const [kind, ticks = ""] = timer.split(":");
            return [kind === KEEPALIVE ? Number.parseInt(ticks, 16) / TICKS_PER_SECOND : null];
          });
      // The one that listens is another than those of the pool.
      while (asksAfterSeconds().length < 2 || asksAfterSeconds().includes(null)) await Bun.sleep(20);
      expect(Math.max(...asksAfterSeconds().map(Number))).toBeLessThanOrEqual(ASKED_WITHIN_SECONDS);
    },
  );

  test("a server that refuses its user counts as unavailable: nothing is charged, and the node recovers", async () => {
    await using sql = new SQL(url, { max: 1 });
    await sql`CREATE ROLE turned_away SUPERUSER LOGIN`;
    const node = await open(DEADLINE_MS, url.replace("assay@", "turned_away@"));
    const { charge, written } = await account(node, 10);
    await sql`ALTER ROLE turned_away NOLOGIN`;
    await sql`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'turned_away'`;
    let refusal: unknown;
    // The first ones may find out that their connections are gone.
    for (let tries = 0; tries < 5; tries += 1) {
      refusal = await node.admit(group(1, [charge(1)]), RULES).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(StorageError);
    }
    expect(`${refusal}`).toContain("28000");
    await sql`ALTER ROLE turned_away LOGIN`;
    await untilAnswered(() => node.admit(group(1, [charge(1)]), RULES));
    expect(await written()).toEqual({ counter: 1, events: 1 });
  });

  test("a frozen server is given up at the deadline; nothing is charged, and the node recovers", async () => {
    const node = await open(SHORT_DEADLINE_MS);
    const { charge, written } = await account(node, 10);
    await server.freeze();
    const startedMs = performance.now();
    const refused = await node.admit(group(1, [charge(1)]), RULES).catch((error: unknown) => error);
    const tookMs = performance.now() - startedMs;
    await server.thaw();
    expect(refused).toBeInstanceOf(StorageError);
    expect(tookMs).toBeLessThan(DEADLINE_MS);
    expect((await untilAnswered(() => node.admit(group(2, [charge(1)]), RULES))).outcomes).toEqual([
      "charged",
    ]);
    expect(await written()).toEqual({ counter: 1, events: 1 });
  });

  test("charges survive crashes of the server between and during them, each once", async () => {
    const node = await open();
    const { charge, written } = await account(node, 100_000);
    let charged = 0;
    let stopped = false;
    let failure: unknown;
    const until = async (isReached: () => boolean) => {
      while (!isReached() && failure === undefined) await Bun.sleep(5);
      if (failure !== undefined) throw failure;
    };
    const charging = (async () => {
      for (let sequence = 1; !stopped; sequence += 1) {
        const { outcomes } = await untilAnswered(() => node.admit(group(sequence, [charge(1)]), RULES));
        charged += outcomes.filter((outcome) => outcome === "charged").length;
      }
    })().catch((error: unknown) => {
      failure = error;
    });
    for (let crash = 0; crash < 2; crash += 1) {
      const before = charged;
      await until(() => charged >= before + 20);
      await server.restart();
    }
    const before = charged;
    await until(() => charged >= before + 20);
    stopped = true;
    await charging;
    expect(await written()).toEqual({ counter: charged, events: charged });
  });

  test("a node that starts while the server is frozen ends with one sentence, and does not wait for ever", async () => {
    await server.freeze();
    const refused = await open().catch((error: unknown) => error);
    await server.thaw();
    expect(refused).toBeInstanceOf(StoreOpenError);
    expect(String(refused)).toContain("the database cannot be used now");
  });

  test("nodes that start at once migrate once; one that is older than the database refuses it", async () => {
    const fresh = await server.createDatabase();
    const opened = await Promise.all(
      [1, 2, 3].map(() => openSharedStore({ url: fresh, clock: systemClock, connectionsMax: 2 })),
    );
    for (const store of opened) store.close();
    await using sql = new SQL(fresh, { max: 1 });
    const older = migrate(sql, NOON, []);
    await expect(older).rejects.toBeInstanceOf(StoreOpenError);
    await expect(older).rejects.toThrow("newer version");
  });
});

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so nothing of a cluster is tested", () => {});
}
