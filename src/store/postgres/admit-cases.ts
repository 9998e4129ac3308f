import { and, eq, inArray, lt, sql } from "drizzle-orm";
import type { Clock } from "../../platform/clock.ts";
import type { AccountMonth } from "../account-records.ts";
import type {
  Admission,
  AdmissionGroup,
  AdmissionOutcome,
  AdmissionRules,
  AdmitPort,
  Admitted,
  FitsMonth,
  MarksOfMonth,
} from "../admit-port.ts";
import type { QuotaMark } from "../billing-port.ts";
import { chargeSums } from "../charge-sums.ts";
import { lockAccounts, monthsOf, putReply, SERVER_NOW } from "./account-rows.ts";
import { keepClock } from "./clock-rows.ts";
import type { Connection } from "./connection.ts";
import { type Asked, allCharged, type Writer } from "./group-statements.ts";
import { chunkName, finishChunk, lockChunks } from "./job-rows.ts";
import { arrayOf, builtOnce, listIn, type Orm } from "./orm.ts";
import { createPlainGroups } from "./plain-groups.ts";
import { accountChanges, accountRates, flushes, idempotencyClaims, planPeriods } from "./schema.ts";
import { accountIdsOf, writeCharges, writeMarks } from "./usage-cases.ts";

/** The claims of a process that has not renewed them for so long are free. */
const LEASE_MS = 15_000;
/** What became of the last group of a process that is gone is of no use to anybody. */
const FLUSHES_KEPT_MS = 3_600_000;
const CHANGES_KEPT_MS = 3_600_000;

/**
 * After this many groups in a row the server is there, and a statement that commits by itself will be answered. Others
 * begin a transaction first, so that what a server that is away did not get is certain not to be written.
 */
const FOLLOWING_MIN = 8;
/** Longer than a turn of a process that is busy, and its wait for a core. */
const FOLLOWS_WITHIN_MS = 25;

/** Decides over charges where all nodes write them. `processId` is of this process alone, never used again. */
export function createAdmitCases(
  { transact, transactAtOnce, read }: Connection,
  processId: string,
  clock: Pick<Clock, "monotonic">,
): Omit<AdmitPort, "listenForChanges"> {
  const plain = createPlainGroups();
  const laneIds = { calls: processId, chunks: `${processId} chunks` };
  const writerOf = ({ lane, apart }: AdmissionGroup): Writer => ({
    processId,
    laneId: apart === undefined ? laneIds[lane] : `${laneIds[lane]} ${apart}`,
  });
  let answeredMs = Number.NEGATIVE_INFINITY;
  let following = 0;

  async function write(group: AdmissionGroup, rules: AdmissionRules, isThere: boolean): Promise<Admitted> {
    const writer = writerOf(group);
    const asked = plain.asked(group);
    const written = asked === null ? null : await writePlain(writer, group, asked, isThere);
    if (written !== null) return written;
    const learn = (months: ReadonlyMap<string, AccountMonth>) => plain.learn(months, rules);
    return transact((orm) => decideGroup(orm, writer, group, { ...rules, learn }));
  }

  async function writePlain(
    writer: Writer,
    group: AdmissionGroup,
    asked: readonly Asked[],
    isThere: boolean,
  ): Promise<Admitted | null> {
    if (transactAtOnce !== null && isThere) {
      return transactAtOnce((client) => plain.writeAtOnce(client, writer, group, asked));
    }
    return group.lane === "chunks" ? null : transact((orm) => plain.write(orm, writer, group, asked));
  }

  async function admitCalls(group: AdmissionGroup, rules: AdmissionRules): Promise<Admitted> {
    const inRow = clock.monotonic() - answeredMs < FOLLOWS_WITHIN_MS ? following + 1 : 0;
    // Until this one is answered nothing is known.
    following = 0;
    const admitted = await write(group, rules, inRow >= FOLLOWING_MIN);
    following = inRow;
    answeredMs = clock.monotonic();
    return admitted;
  }

  return {
    // Nobody waits for what becomes of a chunk.
    admit: (group, rules) =>
      group.lane === "calls" && group.apart === undefined
        ? admitCalls(group, rules)
        : write(group, rules, group.lane === "chunks"),

    claimKey: (accountId, idempotencyKey, fingerprint) =>
      transact(async (orm) => {
        const claim = { accountId, idempotencyKey, fingerprint, processId };
        const leaseUntil = sql<number>`${SERVER_NOW} + ${LEASE_MS}::bigint`;
        const claimed = await orm
          .insert(idempotencyClaims)
          .values({ ...claim, leaseUntil: leaseUntil as never })
          .onConflictDoUpdate({
            target: [idempotencyClaims.accountId, idempotencyClaims.idempotencyKey],
            set: { fingerprint, processId, leaseUntil },
            setWhere: lt(idempotencyClaims.leaseUntil, SERVER_NOW),
          })
          .returning({ processId: idempotencyClaims.processId });
        if (claimed.length > 0) return { isClaimed: true };
        const [held] = await orm
          .select({ fingerprint: idempotencyClaims.fingerprint })
          .from(idempotencyClaims)
          .where(isClaim(accountId, idempotencyKey));
        return { isClaimed: false, fingerprint: held?.fingerprint ?? fingerprint };
      }),

    releaseKey: (accountId, idempotencyKey) =>
      transact(async (orm) => {
        await orm
          .delete(idempotencyClaims)
          .where(and(isClaim(accountId, idempotencyKey), eq(idempotencyClaims.processId, processId)));
      }),

    renewClaims: () =>
      transact(async (orm) => {
        await orm
          .update(idempotencyClaims)
          .set({ leaseUntil: sql`${SERVER_NOW} + ${LEASE_MS}::bigint` })
          .where(eq(idempotencyClaims.processId, processId));
        await orm.delete(idempotencyClaims).where(lt(idempotencyClaims.leaseUntil, SERVER_NOW));
        await orm
          .delete(flushes)
          .where(lt(flushes.writtenAt, sql`${SERVER_NOW} - ${FLUSHES_KEPT_MS}::bigint`));
        await orm
          .delete(accountChanges)
          .where(lt(accountChanges.changedAt, sql`${SERVER_NOW} - ${CHANGES_KEPT_MS}::bigint`));
      }),

    changedAccounts: (withinMs) =>
      read(async (orm) => {
        const rows = await changedWithin(orm).execute({ withinMs });
        return rows.map(({ accountId }) => accountId);
      }),
  };
}

const changedWithin = builtOnce((orm) =>
  orm
    .select({ accountId: accountChanges.accountId })
    .from(accountChanges)
    .where(sql`${accountChanges.changedAt} > ${SERVER_NOW} - ${sql.placeholder("withinMs")}::bigint`)
    .prepare("changed_accounts"),
);

const isClaim = (accountId: string, idempotencyKey: string) =>
  and(eq(idempotencyClaims.accountId, accountId), eq(idempotencyClaims.idempotencyKey, idempotencyKey));

/** `learn` gets the months as they were found. */
async function decideGroup(
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
  refuseBeyondQuota(admissions, outcomes, months, fits);
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

/** Asks which entries the months have units for, account by account, in order of arrival. */
function refuseBeyondQuota(
  admissions: readonly Admission[],
  outcomes: AdmissionOutcome[],
  months: ReadonlyMap<string, AccountMonth>,
  fits: FitsMonth,
): void {
  const places = new Map<string, number[]>();
  for (const [index, { entry }] of admissions.entries()) {
    if (outcomes[index] !== "charged") continue;
    const known = places.get(entry.accountId);
    if (known === undefined) places.set(entry.accountId, [index]);
    else known.push(index);
  }
  for (const [accountId, indexes] of places) {
    const month = months.get(accountId);
    const asked = indexes.flatMap((index) => admissions[index]?.entry ?? []);
    const fitting = month === undefined ? [] : fits(month, asked);
    for (const [place, index] of indexes.entries()) {
      if (fitting[place] !== true) outcomes[index] = "quota";
    }
  }
}

/** The shares of months that these charges use up; those of a plan period that has ended use nothing of the running one. */
function marksOfAll(
  admitted: readonly Admission[],
  months: ReadonlyMap<string, AccountMonth>,
  marksOf: MarksOfMonth,
): readonly QuotaMark[] {
  return [...months].flatMap(([accountId, month]) => {
    const running = month.planPeriods.at(-1)?.planPeriodId;
    const added = admitted.reduce(
      (sum, { entry }) =>
        entry.accountId === accountId && entry.planPeriodId === running ? sum + entry.units : sum,
      0,
    );
    return added === 0 ? [] : marksOf(month, added);
  });
}

/** False where a group of this number was written before: its commit was not answered. */
async function beginFlush(orm: Orm, laneId: string, sequence: number): Promise<boolean> {
  const rows = await flushBegin(orm).execute({ laneId, sequence });
  return rows.length > 0;
}

const flushBegin = builtOnce((orm) => {
  const sequence = sql<number>`${sql.placeholder("sequence")}::bigint`;
  const values = { sequence: sequence as never, outcome: "", writtenAt: SERVER_NOW as never };
  return orm
    .insert(flushes)
    .values({ processId: sql.placeholder("laneId"), ...values })
    .onConflictDoUpdate({ target: flushes.processId, set: values, setWhere: lt(flushes.sequence, sequence) })
    .returning({ sequence: flushes.sequence })
    .prepare("begin_flush");
});

async function endFlush(orm: Orm, laneId: string, outcomes: readonly AdmissionOutcome[]): Promise<void> {
  const isWhole = outcomes.every((outcome) => outcome === "charged");
  const outcome = isWhole ? allCharged(outcomes.length) : JSON.stringify(outcomes);
  await flushEnd(orm).execute({ laneId, outcome });
}

const flushEnd = builtOnce((orm) =>
  orm
    .update(flushes)
    .set({ outcome: sql`${sql.placeholder("outcome")}::text` })
    .where(eq(flushes.processId, sql.placeholder("laneId")))
    .prepare("end_flush"),
);

async function outcomesOf(orm: Orm, laneId: string, sequence: number): Promise<readonly AdmissionOutcome[]> {
  const [row] = await orm.select().from(flushes).where(eq(flushes.processId, laneId));
  // It may have been committed and not been on the disk when its connection was lost: this commit brings it there.
  await orm.execute(sql`SELECT pg_logical_emit_message(true, 'assay', '')`);
  if (row?.sequence !== sequence) throw new Error("a group of charges was written after its successor");
  const outcome: number | readonly AdmissionOutcome[] = JSON.parse(row.outcome);
  return typeof outcome === "number" ? new Array<AdmissionOutcome>(outcome).fill("charged") : outcome;
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

const claimOf = ({ accountId, idempotencyKey }: { accountId: string; idempotencyKey: string }): string =>
  `${accountId} ${idempotencyKey}`;

/** Ends the claims of the replies that are to be written; returns those that this process still had. */
async function takeClaims(
  orm: Orm,
  processId: string,
  admissions: readonly Admission[],
): Promise<ReadonlySet<string>> {
  const replies = admissions.flatMap(({ reply }) => reply ?? []);
  if (replies.length === 0) return new Set();
  const keys = replies.map(({ idempotencyKey }) => idempotencyKey);
  const rows = await orm
    .delete(idempotencyClaims)
    .where(and(inArray(idempotencyClaims.idempotencyKey, keys), eq(idempotencyClaims.processId, processId)))
    .returning({
      accountId: idempotencyClaims.accountId,
      idempotencyKey: idempotencyClaims.idempotencyKey,
    });
  return new Set(rows.map(claimOf));
}

type RateState = { fullAtUs: number; ageUsMax: number; readonly nowUs: number; isChanged: boolean };

async function ratesOf(orm: Orm, admissions: readonly Admission[]): Promise<Map<string, RateState>> {
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
 * pass beyond the burst as come in during the age of the oldest of them.
 */
function createRateCheck(states: Map<string, RateState>): (admission: Admission) => boolean {
  return ({ entry, rate }) => {
    const state = states.get(entry.accountId);
    if (rate === null || state === undefined) return true;
    const { stepMs, burstMs, ageMs } = rate;
    const isFull = state.fullAtUs <= state.nowUs;
    const ageUsMax = Math.ceil(Math.max(isFull ? 0 : state.ageUsMax, ageMs * 1_000));
    const nextUs = Math.max(state.fullAtUs, state.nowUs) + stepMs * 1_000;
    if (nextUs - state.nowUs > burstMs * 1_000 + ageUsMax) return false;
    state.fullAtUs = nextUs;
    state.ageUsMax = ageUsMax;
    state.isChanged = true;
    return true;
  };
}

async function writeRates(orm: Orm, states: ReadonlyMap<string, RateState>): Promise<void> {
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
