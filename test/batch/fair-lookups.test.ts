import { describe, expect, test } from "bun:test";
import { createFairLookups } from "../../src/batch/fair-lookups.ts";
import type { DomainFactsSource } from "../../src/domains/facts.ts";
import type { KnownDomain } from "../../src/domains/known-domains.ts";

const KNOWN: KnownDomain = {
  json: "{}",
  epoch: 0,
  expiresAtMs: Number.POSITIVE_INFINITY,
  isFailure: false,
  domainVerdict: null,
};
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A source that answers when the test says so, and how many replies the main thread lags behind. */
function setting(queriesMax = 1000) {
  const asked = new Map<string, { readonly deadlineMs: number | undefined; readonly answer: () => void }>();
  const source = {
    knownDomain: () => undefined,
    findDomain: (domain: string, { deadlineMs }: { readonly deadlineMs?: number }) =>
      new Promise<KnownDomain>((resolve) => asked.set(domain, { deadlineMs, answer: () => resolve(KNOWN) })),
  } as unknown as DomainFactsSource;
  const replies = { unread: 0 };
  const clock = { now: () => 0, monotonic: () => 1000 };
  const { findDomain } = createFairLookups(source, {
    clock,
    queriesMax,
    repliesUnread: () => replies.unread,
  });
  const find = (tenant: string, domains: number, options: { deep?: boolean; signal?: AbortSignal } = {}) =>
    Array.from({ length: domains }, (_, at) =>
      findDomain(`${tenant}${at}.com`, { dns: true, deep: false, tenant, ...options }),
    );
  const begunFor = (tenant: string) => [...asked.keys()].filter((domain) => domain.startsWith(tenant)).length;
  return { asked, replies, find, begunFor };
}

describe("look-ups of several tenants", () => {
  test("begin 32 in a turn, and the first of another tenant at once", async () => {
    const { find, begunFor } = setting();
    void find("a", 200);
    expect(begunFor("a")).toBe(32);
    void find("b", 1);
    expect(begunFor("b")).toBe(1);
    const begun: number[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      await nextTurn();
      begun.push(begunFor("a"));
    }
    expect(begun).toEqual([64, 96, 128]);
  });

  test("begin eight in a turn where they are deep and come at once", () => {
    const { find, begunFor } = setting();
    void find("a", 100, { deep: true });
    expect(begunFor("a")).toBe(8);
  });

  test("wait while the main thread lags behind the replies, but for a tenant's first", async () => {
    const { find, begunFor, replies } = setting();
    replies.unread = 17;
    void find("a", 20);
    void find("b", 2);
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    expect([begunFor("a"), begunFor("b")]).toEqual([1, 1]);
    replies.unread = 16;
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    expect([begunFor("a"), begunFor("b")]).toEqual([20, 2]);
  });

  test("are next where a tenant has the fewest under way", async () => {
    const { find, begunFor } = setting();
    void find("a", 200);
    await nextTurn();
    void find("b", 33);
    await nextTurn();
    expect([begunFor("a"), begunFor("b")]).toEqual([64, 33]);
  });

  test("count twice where they are deep, and make room when they are answered", async () => {
    const { find, begunFor, asked } = setting(100);
    void find("a", 60, { deep: true });
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(begunFor("a")).toBe(40);
    for (const { answer } of asked.values()) answer();
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    expect(begunFor("a")).toBe(60);
  });

  test("that are given up before their turn get what is known by then", async () => {
    const { find, asked } = setting();
    const stop = new AbortController();
    void find("a", 34, { signal: stop.signal });
    stop.abort();
    await nextTurn();
    const deadlines = [...asked.values()].map(({ deadlineMs }) => deadlineMs);
    expect(deadlines).toEqual([...Array(32).fill(undefined), 1000, 1000]);
  });
});
