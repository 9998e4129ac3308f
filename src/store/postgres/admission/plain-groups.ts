import { sql } from "drizzle-orm";
import type { AccountMonth } from "../../account-records.ts";
import type { Admission, AdmissionGroup, AdmissionRules, Admitted } from "../../admit-port.ts";
import type { Client } from "../connection/connection.ts";
import { builtOnce, type Orm } from "../connection/orm.ts";
import { type Asked, atOnce, sumsOf, textsOf, type Writer } from "./group-statements.ts";

/** What is known of the month of an account, by which most of its charges need no decision. */
type PlainMonth = {
  readonly planPeriodId: number;
  readonly periodStart: number;
  /** What the plan period counts at the least. */
  readonly units: number;
  /** Up to here nothing is to be decided; null where that has no end. */
  readonly unitsTo: number | null;
  /** Of the plan periods before it in its month. */
  readonly unitsBefore: number;
  /** Of the whole month. */
  readonly creditedUnits: number;
  readonly spendLimitMicroUsd: number | null;
};

type WritePlain<Way> = (
  way: Way,
  writer: Writer,
  group: AdmissionGroup,
  asked: readonly Asked[],
) => Promise<Admitted | null>;

export type PlainGroups = {
  /** Returns what makes it certain that each charge of a group is admitted; null where some are to be decided. */
  readonly asked: (group: AdmissionGroup) => readonly Asked[] | null;
  /**
   * Writes a group that pays for no chunk of a job, if the database finds that what was asked holds still. Returns null
   * where it wrote nothing: the group is to be decided, or was written by an earlier try.
   */
  readonly write: WritePlain<Orm>;
  /** The same as one statement that commits by itself, also for a chunk. */
  readonly writeAtOnce: WritePlain<Client>;
  /** Takes over months that were read in full, with the accounts locked. */
  readonly learn: (months: ReadonlyMap<string, AccountMonth>, rules: AdmissionRules) => void;
};

const MONTHS_MAX = 50_000;

/**
 * Most groups need no decision: far from its limits and marks every charge of an account is admitted. What makes that
 * so is read once, and sent with each group to be compared.
 */
export function createPlainGroups(): PlainGroups {
  const known = new Map<string, PlainMonth>();

  function remember(accountId: string, month: PlainMonth): void {
    known.delete(accountId);
    const [oldest] = known.keys();
    if (known.size >= MONTHS_MAX && oldest !== undefined) known.delete(oldest);
    known.set(accountId, month);
  }

  /** Null where one of them is to be decided. */
  function askedOf(admissions: readonly Admission[]): readonly Asked[] | null {
    const asked = new Map<string, Asked>();
    for (const { entry, reply, chunk, rate } of admissions) {
      const month = known.get(entry.accountId);
      if (month === undefined || month.planPeriodId !== entry.planPeriodId) return null;
      if (reply !== null || (chunk !== null && (chunk.replaces || admissions.length > 1))) return null;
      let sum = asked.get(entry.accountId);
      if (sum === undefined) {
        sum = nothingAsked(entry.accountId, month);
        asked.set(entry.accountId, sum);
      }
      sum.units += entry.units;
      if (month.unitsTo !== null && month.units + sum.units > month.unitsTo) return null;
      if (rate === null) continue;
      sum.taken_us += Math.ceil(rate.stepMs * 1_000);
      sum.burst_us = Math.min(sum.burst_us, Math.floor(rate.burstMs * 1_000));
      sum.age_us_min = Math.min(sum.age_us_min, Math.floor(rate.ageMs * 1_000));
      sum.age_us_max = Math.max(sum.age_us_max, Math.ceil(rate.ageMs * 1_000));
    }
    return [...asked.values()];
  }

  /** Takes over what was written; null where nothing was. */
  function admitted(
    { admissions }: AdmissionGroup,
    asked: readonly Asked[],
    rows: readonly { readonly planPeriodId: number; readonly units: number }[],
  ): Admitted | null {
    if (rows.length === 0) {
      for (const { account_id } of asked) known.delete(account_id);
      return null;
    }
    const units = new Map(rows.map(({ planPeriodId, units: counted }) => [planPeriodId, counted]));
    for (const { account_id: accountId, plan_period_id: planPeriodId } of asked) {
      const month = known.get(accountId);
      const counted = units.get(planPeriodId);
      if (month?.planPeriodId === planPeriodId && counted !== undefined) {
        remember(accountId, { ...month, units: counted });
      }
    }
    return { outcomes: new Array(admissions.length).fill("charged"), units };
  }

  return {
    asked: ({ admissions, keptAt }) => (keptAt === null ? askedOf(admissions) : null),
    async write(orm, { laneId }, group, asked) {
      const texts = textsOf(group, asked, sumsOf(group));
      const rows = await plainWritten(orm).execute({ laneId, ...texts });
      return admitted(group, asked, rows);
    },
    async writeAtOnce(client, writer, group, asked) {
      const { text, values } = atOnce(writer, group, asked);
      const [row] = await client.unsafe(text, values);
      const counted: readonly (readonly [number, number])[] = JSON.parse(`${row?.counted ?? "[]"}`);
      const rows = counted.map(([planPeriodId, units]) => ({ planPeriodId, units }));
      return admitted(group, asked, rows);
    },
    learn(months, rules) {
      for (const [accountId, month] of months) {
        const { account, planPeriods } = month;
        const running = planPeriods.at(-1);
        if (running === undefined) continue;
        const unitsTo = rules.plainUnits(month);
        const { planPeriodId, periodStart, units } = running;
        remember(accountId, {
          planPeriodId,
          periodStart,
          units,
          unitsTo: Number.isFinite(unitsTo) ? unitsTo : null,
          unitsBefore: planPeriods.slice(0, -1).reduce((sum, earlier) => sum + earlier.units, 0),
          creditedUnits: planPeriods.reduce((sum, period) => sum + period.creditedUnits, 0),
          spendLimitMicroUsd: account.spendLimitMicroUsd,
        });
      }
    },
  };
}

function nothingAsked(accountId: string, month: PlainMonth): Asked {
  return {
    account_id: accountId,
    plan_period_id: month.planPeriodId,
    period_start: month.periodStart,
    units: 0,
    units_to: month.unitsTo,
    units_before: month.unitsBefore,
    credited_units: month.creditedUnits,
    spend_limit_micro_usd: month.spendLimitMicroUsd,
    taken_us: 0,
    burst_us: Number.MAX_SAFE_INTEGER,
    age_us_min: Number.MAX_SAFE_INTEGER,
    age_us_max: 0,
  };
}

const plainWritten = builtOnce((orm) =>
  orm
    .select({
      planPeriodId: sql`plan_period_id`.mapWith(Number),
      units: sql`units`.mapWith(Number),
    })
    .from(
      sql`admit_plain(${sql.placeholder("laneId")}::text, ${sql.placeholder("sequence")}::bigint,
        ${sql.placeholder("outcome")}::text, ${sql.placeholder("asked")}::text::json,
        ${sql.placeholder("charges")}::text::json)`,
    )
    .prepare("admit_plain"),
);
