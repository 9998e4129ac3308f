import { sql } from "drizzle-orm";
import type { Admission } from "../../admit-port.ts";
import { arrayOf, builtOnce, type Orm } from "../connection/orm.ts";
import { accountRates } from "../schema.ts";

/** The rate of an account while a group is decided, by the clock of the database. */
export type RateState = { fullAtUs: number; ageUsMax: number; readonly nowUs: number; isChanged: boolean };

/** Returns the rates of the accounts whose calls count against one, as they are now. */
export async function ratesOf(orm: Orm, admissions: readonly Admission[]): Promise<Map<string, RateState>> {
  const asked = [...new Set(admissions.flatMap(({ rate, entry }) => (rate === null ? [] : entry.accountId)))];
  if (asked.length === 0) return new Map();
  const rows = await ratesNow(orm).execute({ accountIds: arrayOf(asked) });
  return new Map(
    rows.map(({ accountId, fullAtUs, ageUsMax, nowUs: now }) => [
      accountId,
      { fullAtUs: fullAtUs ?? 0, ageUsMax: ageUsMax ?? 0, nowUs: now, isChanged: false },
    ]),
  );
}

const ratesNow = builtOnce((orm) =>
  orm
    .select({
      accountId: sql<string>`asked`,
      fullAtUs: accountRates.fullAtUs,
      ageUsMax: accountRates.ageUsMax,
      nowUs: sql`(extract(epoch from clock_timestamp()) * 1000000)::bigint`.mapWith(Number),
    })
    .from(sql`unnest(${sql.placeholder("accountIds")}::text::text[]) asked`)
    .leftJoin(accountRates, sql`${accountRates.accountId} = asked`)
    .prepare("rates_now"),
);

/**
 * Counts calls against the rates of their accounts. Calls that one process admitted in time may end together: as many
 * pass beyond the burst as come in during the age of the oldest of them. A rate that is further ahead than calls can have
 * brought it was written before the clock was set back or the plan changed: one call passes, and it counts anew.
 */
export function createRateCheck(states: Map<string, RateState>): (admission: Admission) => boolean {
  return ({ entry, rate }) => {
    const state = states.get(entry.accountId);
    if (rate === null || state === undefined) return true;
    const { stepMs, burstMs, ageMs } = rate;
    const isFull = state.fullAtUs <= state.nowUs;
    const ageUsMax = Math.ceil(Math.max(isFull ? 0 : state.ageUsMax, ageMs * 1_000));
    const [stepUs, burstUs] = [stepMs * 1_000, burstMs * 1_000];
    const isPossible = state.fullAtUs - state.nowUs <= burstUs + ageUsMax + stepUs;
    const fullAtUs = isPossible ? state.fullAtUs : state.nowUs + burstUs - stepUs;
    const nextUs = Math.max(fullAtUs, state.nowUs) + stepUs;
    if (nextUs - state.nowUs > burstUs + ageUsMax) return false;
    state.fullAtUs = nextUs;
    state.ageUsMax = ageUsMax;
    state.isChanged = true;
    return true;
  };
}

/** Writes the rates that have changed. */
export async function writeRates(orm: Orm, states: ReadonlyMap<string, RateState>): Promise<void> {
  const rows = Array.from(states).flatMap(([accountId, { fullAtUs, ageUsMax, isChanged }]) =>
    isChanged ? [{ account_id: accountId, full_at_us: Math.round(fullAtUs), age_us_max: ageUsMax }] : [],
  );
  if (rows.length === 0) return;
  await orm.execute(sql`
    INSERT INTO account_rates (account_id, full_at_us, age_us_max)
    SELECT account_id, full_at_us, age_us_max FROM json_to_recordset(${JSON.stringify(rows)}::text::json)
      AS rate(account_id text, full_at_us bigint, age_us_max bigint)
    ON CONFLICT (account_id) DO UPDATE SET full_at_us = excluded.full_at_us, age_us_max = excluded.age_us_max`);
}
