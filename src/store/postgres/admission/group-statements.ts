import type { AdmissionGroup } from "../../admit-port.ts";
import { type ChargeSum, chargeSums } from "../../charge-sums.ts";
import { chargesText } from "../billing/usage-cases.ts";
import { arrayOf, rowsOf } from "../connection/orm.ts";
import { finishedText } from "../jobs/chunk-rows.ts";

/** What the database holds against its rows; the names are those of the function `admit_plain`. */
export type Asked = {
  readonly account_id: string;
  readonly plan_period_id: number;
  readonly period_start: number;
  units: number;
  readonly units_to: number | null;
  readonly units_before: number;
  readonly credited_units: number;
  readonly spend_limit_micro_usd: number | null;
  taken_us: number;
  burst_us: number;
  age_us_min: number;
  age_us_max: number;
};

/** By whom a group is written. */
export type Writer = {
  readonly processId: string;
  /** The name by which the groups of a lane are counted. */
  readonly laneId: string;
};

/** Accounts of a group: of more it is cheaper to write them as sets. */
const FEW_ACCOUNTS_MAX = 4;
/** Charges of a group when they are added up. */
const FEW_SUMS_MAX = 8;

/** Returns the statement that writes a group which needs no decision and commits by itself, with its values. */
export function atOnce(writer: Writer, group: AdmissionGroup, asked: readonly Asked[]) {
  const sums = sumsOf(group);
  const few = fewOf(writer, group, asked, sums);
  return few === null
    ? { text: AT_ONCE, values: manyOf(writer, group, asked, sums) }
    : { text: FEW_AT_ONCE, values: few };
}

/** The values of `AT_ONCE`. */
function manyOf(
  { processId, laneId }: Writer,
  group: AdmissionGroup,
  asked: readonly Asked[],
  sums: readonly ChargeSum[],
) {
  const { sequence, outcome, asked: askedText, charges } = textsOf(group, asked, sums);
  const chunk = group.admissions[0]?.chunk ?? null;
  return [
    ...[processId, laneId, sequence, outcome, askedText, charges],
    ...(chunk === null ? [null, null] : [finishedText(chunk), Buffer.from(chunk.body)]),
  ];
}

/**
 * The values of `FEW_AT_ONCE`, which goes row by row and takes two thirds of the time where there are few; null where
 * there are many, where something of a plan period is counted that was not asked for, and for a chunk.
 */
function fewOf(
  { laneId }: Writer,
  { sequence, admissions }: AdmissionGroup,
  asked: readonly Asked[],
  sums: readonly ChargeSum[],
) {
  if (asked.length > FEW_ACCOUNTS_MAX || sums.length > FEW_SUMS_MAX) return null;
  if (admissions.some(({ chunk }) => chunk !== null)) return null;
  const counted = asked.map((want) => ({ want, calls: 0 }));
  for (const { accountId, planPeriodId, calls } of sums) {
    const month = counted.find(
      ({ want }) => want.plan_period_id === planPeriodId && want.account_id === accountId,
    );
    if (month === undefined) return null;
    month.calls += calls;
  }
  const months = counted.map(({ want, calls }) => [
    ...[want.account_id, want.plan_period_id, want.period_start],
    ...[want.units, calls],
    ...[want.units_to, want.units_before, want.credited_units, want.spend_limit_micro_usd],
    ...[want.taken_us, want.burst_us, want.age_us_min, want.age_us_max],
  ]);
  const charges = sums.map(({ accountId, planPeriodId, at, day, endpoint, units, calls }) => [
    ...[accountId, planPeriodId, at, day, endpoint, units, calls],
  ]);
  const accountIds = arrayOf(asked.map(({ account_id: accountId }) => accountId));
  return [laneId, sequence, allCharged(admissions.length), accountIds, rowsOf(months), rowsOf(charges)];
}

/** Returns a group as the functions that write it as sets take it. */
export function textsOf(
  { sequence, admissions }: AdmissionGroup,
  asked: readonly Asked[],
  sums: readonly ChargeSum[],
) {
  return {
    sequence,
    outcome: allCharged(admissions.length),
    asked: JSON.stringify(asked),
    charges: chargesText(sums),
  };
}

/** Returns what a group charges, added up. */
export function sumsOf({ admissions, others }: AdmissionGroup): readonly ChargeSum[] {
  return chargeSums([...admissions.map(({ entry }) => entry), ...others]);
}

/** How the outcome of a group is kept in which every charge was written. */
export function allCharged(charges: number): string {
  return `${charges}`;
}

const AT_ONCE = `CALL admit_at_once(
  $1::text, $2::text, $3::bigint, $4::text, $5::text::json, $6::text::json, $7::text::json, $8::bytea, NULL)`;

const FEW_AT_ONCE = `CALL admit_few(
  $1::text, $2::bigint, $3::text, $4::text::text[], $5::text::asked_month[], $6::text::charge_sum[], NULL)`;
