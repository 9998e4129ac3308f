import { eq } from "drizzle-orm";
import type { KeptClock } from "../../operator-port.ts";
import type { Orm } from "../connection/orm.ts";
import { keptClock } from "../schema.ts";

const ROW = 1;

export type ClockStatements = ReturnType<typeof createClockStatements>;

/** The last time that the clock showed while it was trusted, and the time that an operator confirmed last. */
export function createClockStatements(orm: Orm) {
  return {
    /** Undefined in a database in which no time was kept yet. */
    find: (): KeptClock | undefined =>
      orm
        .select({ keptAt: keptClock.keptAt, confirmedAt: keptClock.confirmedAt })
        .from(keptClock)
        .where(eq(keptClock.clockId, ROW))
        .get(),

    keep: (keptAt: number): void => {
      orm
        .insert(keptClock)
        .values({ clockId: ROW, keptAt })
        .onConflictDoUpdate({ target: keptClock.clockId, set: { keptAt } })
        .run();
    },

    confirm: (confirmedAt: number): void => {
      orm.update(keptClock).set({ confirmedAt }).where(eq(keptClock.clockId, ROW)).run();
    },
  };
}
