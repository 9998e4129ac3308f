import { and, asc, desc, eq, gte, inArray, lt, sql } from "drizzle-orm";
import type { AnySQLiteColumn } from "drizzle-orm/sqlite-core";
import { LATENCY_BOUNDS_MS, type Probe, type ProbedResource, type ProbeStore } from "../../../probe-port.ts";
import type { Orm } from "../../connection/orm.ts";
import { probeChanges, probeDays, probedResources } from "./probe-schema.ts";

/** The statements of the prober's database. */
export function createProbeStore(orm: Orm): ProbeStore {
  const placed = (name: string) => sql.placeholder(name);
  const find = orm
    .select()
    .from(probedResources)
    .where(eq(probedResources.url, placed("url")))
    .prepare();
  const findDay = orm
    .select()
    .from(probeDays)
    .where(and(eq(probeDays.url, placed("url")), eq(probeDays.day, placed("day"))))
    .prepare();
  const countOf = (column: AnySQLiteColumn) => sql<number>`sum(${column})`.mapWith(Number);

  function record(probe: Probe): void {
    const { url, host, day, status, ms, at, payTo, priceMicroUsd, method, accepts } = probe;
    const before = find.get({ url });
    const change = (kind: "price" | "payee", was: string, is: string) =>
      orm.insert(probeChanges).values({ host, url, kind, before: was, after: is, at }).run();
    const isMoved = before?.payTo != null && payTo !== null && before.payTo !== payTo;
    if (isMoved && before?.payTo != null) change("payee", before.payTo, payTo);
    const was = before?.priceMicroUsd ?? null;
    if (was !== null && priceMicroUsd !== null && was !== priceMicroUsd) {
      change("price", String(was), String(priceMicroUsd));
    }
    const isFirst = payTo !== null && (before?.payTo == null || isMoved);
    const set = {
      host,
      method,
      probedAt: at,
      status,
      ms,
      accepts,
      payTo: payTo ?? before?.payTo ?? null,
      payToFirstSeen: isFirst ? at : (before?.payToFirstSeen ?? null),
      payToChangedAt: isMoved ? at : (before?.payToChangedAt ?? null),
      priceMicroUsd: priceMicroUsd ?? was,
    };
    orm
      .insert(probedResources)
      .values({ url, ...set })
      .onConflictDoUpdate({ target: probedResources.url, set })
      .run();
    const known = findDay.get({ url, day });
    const counts = {
      paid: (known?.paid ?? 0) + (status === "paid" ? 1 : 0),
      down: (known?.down ?? 0) + (status === "down" ? 1 : 0),
      blocked: (known?.blocked ?? 0) + (status === "blocked" ? 1 : 0),
      paymentBroken: (known?.paymentBroken ?? 0) + (status === "payment_broken" ? 1 : 0),
      latencies: counted(known?.latencies, ms),
    };
    orm
      .insert(probeDays)
      .values({ url, day, host, ...counts })
      .onConflictDoUpdate({ target: [probeDays.url, probeDays.day], set: counts })
      .run();
  }

  return {
    record: (probes: readonly Probe[]): void => {
      orm.transaction(() => {
        for (const probe of probes) record(probe);
      });
    },
    find: (url: string): ProbedResource | undefined => find.get({ url }),
    days: (url: string, fromDay: string) =>
      orm
        .select()
        .from(probeDays)
        .where(and(eq(probeDays.url, url), gte(probeDays.day, fromDay)))
        .orderBy(asc(probeDays.day))
        .all(),
    hostDays: (host: string, fromDay: string) =>
      orm
        .select({
          day: probeDays.day,
          paid: countOf(probeDays.paid),
          down: countOf(probeDays.down),
          blocked: countOf(probeDays.blocked),
          paymentBroken: countOf(probeDays.paymentBroken),
        })
        .from(probeDays)
        .where(and(eq(probeDays.host, host), gte(probeDays.day, fromDay)))
        .groupBy(probeDays.day)
        .orderBy(asc(probeDays.day))
        .all(),
    changes: (host: string, limit: number) =>
      orm
        .select()
        .from(probeChanges)
        .where(eq(probeChanges.host, host))
        .orderBy(desc(probeChanges.n))
        .limit(limit)
        .all(),
    removeOld: (beforeDay: string, beforeTime: number, limit: number): number =>
      orm.transaction(() => {
        const days = orm
          .select({ row: sql`rowid` })
          .from(probeDays)
          .where(lt(probeDays.day, beforeDay))
          .limit(limit);
        const removed = orm
          .delete(probeDays)
          .where(inArray(sql`rowid`, days))
          .returning({ url: probeDays.url })
          .all();
        // Each resource has a day of its last probe, so the last day to go takes it along.
        const urls = removed.map(({ url }) => url);
        const { url, probedAt } = probedResources;
        orm
          .delete(probedResources)
          .where(and(inArray(url, urls), lt(probedAt, beforeTime)))
          .run();
        const { n, at } = probeChanges;
        const changes = orm.select({ n }).from(probeChanges).where(lt(at, beforeTime)).limit(limit);
        return (
          removed.length + orm.delete(probeChanges).where(inArray(n, changes)).returning({ n }).all().length
        );
      }),
  };
}

function counted(counts: readonly number[] | undefined, ms: number | null): number[] {
  const next = Array.from({ length: LATENCY_BOUNDS_MS.length + 1 }, (_, n) => counts?.[n] ?? 0);
  if (ms === null) return next;
  const found = LATENCY_BOUNDS_MS.findIndex((bound) => ms <= bound);
  const at = found === -1 ? LATENCY_BOUNDS_MS.length : found;
  next[at] = (next[at] ?? 0) + 1;
  return next;
}
