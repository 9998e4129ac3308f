import { and, sql } from "drizzle-orm";
import type { AccountMonth, ChargeEntry } from "../../account-records.ts";
import type {
  Admission,
  AdmissionGroup,
  AdmissionOutcome,
  AdmissionRules,
  Admitted,
  FitsMonth,
  MarksOfMonth,
} from "../../admit-port.ts";
import type { QuotaMark } from "../../billing-port.ts";
import { chargeSums } from "../../charge-sums.ts";
import { lockAccounts } from "../account-locks.ts";
import { keepClock } from "../billing/clock-rows.ts";
import { monthsByPlanPeriod, monthsOf } from "../billing/month-rows.ts";
import { accountIdsOf, writeCharges, writeMarks } from "../billing/usage-cases.ts";
import { arrayOf, builtOnce, listIn, type Orm } from "../connection/orm.ts";
import { chunkName, finishChunk, lockChunks } from "../jobs/chunk-rows.ts";
import { putReply } from "../reply-rows.ts";
import { planPeriods } from "../schema.ts";
import { claimOf, takeClaims } from "./claim-rows.ts";
import { beginFlush, endFlush, outcomesOf } from "./flush-rows.ts";
import type { Writer } from "./group-statements.ts";
import { createRateCheck, ratesOf, writeRates } from "./rate-rows.ts";

/**
 * Decides over each charge of a group by what the database holds, and writes those that are admitted. `learn` gets the
 * months as they were found.
 */
export async function decideGroup(
  orm: Orm,
  { processId, laneId }: Writer,
  { sequence, admissions, others, keptAt }: AdmissionGroup,
  {
    fits,
    marksOf,
    learn,
  }: AdmissionRules & { readonly learn: (months: ReadonlyMap<string, AccountMonth>) => void },
): Promise<Admitted> {
  const entries = admissions.map(({ entry }) => entry);
  const charged = accountIdsOf(entries);
  // Sent together: each statement sees what was committed when the one before it had its locks.
  const [isNew, , months, rates, invoiced, claims, held] = await Promise.all([
    beginFlush(orm, laneId, sequence),
    lockAccounts(orm, accountIdsOf([...entries, ...others])),
    monthsOf(orm, charged),
    ratesOf(orm, admissions),
    invoicedPeriods(orm, admissions),
    takeClaims(orm, processId, admissions),
    lockChunks(
      orm,
      processId,
      admissions.flatMap(({ chunk }) => chunk ?? []),
    ),
  ]);
  if (!isNew) return { outcomes: await outcomesOf(orm, laneId, sequence), units: new Map() };
  learn(months);
  const passesRate = createRateCheck(rates);
  const outcomes = admissions.map((admission): AdmissionOutcome => {
    const { entry, reply, chunk } = admission;
    if (invoiced.has(entry.planPeriodId)) return "invoiced";
    if (reply !== null && !claims.has(claimOf(reply))) return "claim_lost";
    if (chunk !== null && !held.has(chunkName(chunk))) return "chunk_lost";
    return passesRate(admission) ? "charged" : "rate";
  });
  refuseBeyondQuota(admissions, outcomes, await monthsByEntry(orm, entries, months), fits);
  const admitted = admissions.filter((_, index) => outcomes[index] === "charged");
  const written: Promise<void>[] = [
    writeCharges(orm, chargeSums([...admitted.map(({ entry }) => entry), ...others])),
    writeRates(orm, rates),
    ...admitted.map(({ reply }) => putReply(orm, reply)),
    ...admitted.flatMap(({ chunk }) => (chunk === null ? [] : finishChunk(orm, chunk))),
    writeMarks(orm, marksOfAll(admitted, months, marksOf)),
    ...(keptAt === null ? [] : [keepClock(orm, keptAt)]),
    endFlush(orm, laneId, outcomes),
  ];
  // Sent last, it sees what the statements before it wrote.
  const units = unitsOf(orm, entries);
  await Promise.all([...written, units]);
  return { outcomes, units: await units };
}

/** Asks which entries their months have units for, month by month, in order of arrival. */
function refuseBeyondQuota(
  admissions: readonly Admission[],
  outcomes: AdmissionOutcome[],
  monthOf: (entry: ChargeEntry) => AccountMonth | undefined,
  fits: FitsMonth,
): void {
  const places = new Map<AccountMonth | undefined, number[]>();
  for (const [index, { entry }] of admissions.entries()) {
    if (outcomes[index] !== "charged") continue;
    const month = monthOf(entry);
    const known = places.get(month);
    if (known === undefined) places.set(month, [index]);
    else known.push(index);
  }
  for (const [month, indexes] of places) {
    const asked = indexes.flatMap((index) => admissions[index]?.entry ?? []);
    const fitting = month === undefined ? [] : fits(month, asked);
    for (const [place, index] of indexes.entries()) {
      if (fitting[place] !== true) outcomes[index] = "quota";
    }
  }
}

/**
 * Returns what gives each entry its month; those that have ended since their calls began are read. Where a fail-over
 * lost the plan period of an entry, another account may have its number now: that month is not the entry's.
 */
async function monthsByEntry(
  orm: Orm,
  entries: readonly ChargeEntry[],
  running: ReadonlyMap<string, AccountMonth>,
): Promise<(entry: ChargeEntry) => AccountMonth | undefined> {
  const isRunning = ({ accountId, planPeriodId }: ChargeEntry) =>
    running.get(accountId)?.planPeriods.some((known) => known.planPeriodId === planPeriodId) === true;
  const others = entries.filter((entry) => !isRunning(entry)).map(({ planPeriodId }) => planPeriodId);
  const endedMonths = others.length === 0 ? null : await monthsByPlanPeriod(orm, others);
  return ({ accountId, planPeriodId }) => {
    const ended = endedMonths?.get(planPeriodId);
    return ended?.account.accountId === accountId ? ended : running.get(accountId);
  };
}

/** The shares of months that these charges use up; those of a plan period that has ended use nothing of the running one. */
function marksOfAll(
  admitted: readonly Admission[],
  months: ReadonlyMap<string, AccountMonth>,
  marksOf: MarksOfMonth,
): readonly QuotaMark[] {
  const added = new Map<number, number>();
  for (const { entry } of admitted) {
    added.set(entry.planPeriodId, (added.get(entry.planPeriodId) ?? 0) + entry.units);
  }
  return [...months.values()].flatMap((month) => {
    const running = month.planPeriods.at(-1);
    const units = running === undefined ? 0 : (added.get(running.planPeriodId) ?? 0);
    return units === 0 ? [] : marksOf(month, units);
  });
}

/** Returns plan periods that are asked for and have their invoice. */
async function invoicedPeriods(orm: Orm, admissions: readonly Admission[]): Promise<ReadonlySet<number>> {
  const asked = [...new Set(admissions.map(({ entry }) => entry.planPeriodId))];
  const rows = await invoicedOf(orm).execute({ planPeriodIds: arrayOf(asked) });
  return new Set(rows.map(({ planPeriodId }) => planPeriodId));
}

const invoicedOf = builtOnce((orm) =>
  orm
    .select({ planPeriodId: planPeriods.planPeriodId })
    .from(planPeriods)
    .where(
      and(
        sql`${planPeriods.planPeriodId} = ${listIn("planPeriodIds", "bigint")}`,
        sql`${planPeriods.invoiceId} is not null`,
      ),
    )
    .prepare("invoiced_periods"),
);

async function unitsOf(
  orm: Orm,
  entries: readonly { readonly planPeriodId: number }[],
): Promise<ReadonlyMap<number, number>> {
  const asked = [...new Set(entries.map(({ planPeriodId }) => planPeriodId))];
  const rows = await countedUnits(orm).execute({ planPeriodIds: arrayOf(asked) });
  return new Map(rows.map(({ planPeriodId, units }) => [planPeriodId, units]));
}

const countedUnits = builtOnce((orm) =>
  orm
    .select({ planPeriodId: planPeriods.planPeriodId, units: planPeriods.units })
    .from(planPeriods)
    .where(sql`${planPeriods.planPeriodId} = ${listIn("planPeriodIds", "bigint")}`)
    .prepare("counted_units"),
);
