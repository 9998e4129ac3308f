import type { Orm } from "../connection/orm.ts";
import { keptClock } from "../schema.ts";

export const CLOCK_ROW = 1;

/** Writes the last time that the clock of a node showed while it was trusted. */
export async function keepClock(orm: Orm, keptAt: number): Promise<void> {
  await orm
    .insert(keptClock)
    .values({ clockId: CLOCK_ROW, keptAt })
    .onConflictDoUpdate({ target: keptClock.clockId, set: { keptAt } });
}
