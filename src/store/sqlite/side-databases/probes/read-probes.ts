import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { and, eq, gt, gte, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { ProbeReader } from "../../../probe-port.ts";
import { probeDays, probedResources } from "./probe-schema.ts";

/** Returns a reader of the `probes.db` of a data directory; null while its prober has not made it. */
export function openProbeReader(dataDir: string): ProbeReader | null {
  const path = join(dataDir, "probes.db");
  if (!existsSync(path)) return null;
  const database = new Database(path, { readonly: true });
  try {
    return createReader(database);
  } catch {
    // Its tables are being made.
    database.close(true);
    return null;
  }
}

function createReader(database: Database): ProbeReader {
  database.run("PRAGMA busy_timeout = 5000");
  const orm = drizzle(database);
  const placed = (name: string) => sql.placeholder(name);
  const { host, probedAt, payTo, payToChangedAt, priceMicroUsd } = probedResources;
  const probedAfter = orm
    .select({ host, probedAt: sql<number>`max(${probedAt})`.mapWith(Number) })
    .from(probedResources)
    .where(gt(probedAt, placed("time")))
    .groupBy(host)
    .prepare();
  // By the index of the days: the resources themselves have none by host.
  const resourcesOf = orm
    .selectDistinct({ url: probedResources.url, payTo, payToChangedAt, priceMicroUsd })
    .from(probeDays)
    .innerJoin(probedResources, eq(probedResources.url, probeDays.url))
    .where(eq(probeDays.host, placed("host")))
    .prepare();
  const daysOf = orm
    .select()
    .from(probeDays)
    .where(and(eq(probeDays.host, placed("host")), gte(probeDays.day, placed("day"))))
    .prepare();
  return {
    probedAfter: (time) => probedAfter.all({ time }),
    resourcesOf: (of) => resourcesOf.all({ host: of }),
    daysOf: (of, fromDay) => daysOf.all({ host: of, day: fromDay }),
    [Symbol.dispose]: () => database.close(true),
  };
}
