import { ApiError } from "../contract/errors.ts";
import type { Clock } from "../platform/clock.ts";
import type { ChargeEntry } from "../store/account-records.ts";
import type {
  AdmissionGroup,
  AdmissionOutcome,
  AdmissionRate,
  AdmissionRules,
  AdmitPort,
  Admitted,
} from "../store/admit-port.ts";
import type { UsagePort } from "../store/billing-port.ts";
import { ClaimLostError } from "../store/job-port.ts";
import type { Upkeep } from "../store/port.ts";
import { StorageError, UnsettledError } from "../store/storage-error.ts";
import { fitsMonth, plainUnitsOfMonth } from "./admission.ts";
import { createChargeLane, type Waiting } from "./charge-lane.ts";
import type { ChargeLog } from "./charge-log.ts";
import { createLaterCharges } from "./later-charges.ts";
import { marksOf } from "./quota-marks.ts";
import { ledgerOf } from "./usage-ledger.ts";

export type SharedChargeLogDependencies = {
  readonly store: Pick<AdmitPort, "admit"> & Pick<UsagePort, "record"> & Pick<Upkeep, "isOpen">;
  readonly clock: Clock;
  /** Calls that may still be charged. */
  readonly openCalls: () => number;
  readonly entriesPerCommitMax: number;
  /** Called for each group of calls with how long the store took for it. */
  readonly onCallsWait: (ms: number) => void;
  /** Returns the time that is to be kept on disk with the next charges, or null. */
  readonly timeToKeep: () => number | null;
  /** Returns the rate against which a call counts. */
  readonly rateOf: (entry: ChargeEntry) => AdmissionRate | null;
  /** Called with what the store counts now, before those who were refused are answered. */
  readonly refresh: (units: ReadonlyMap<number, number>) => void;
  /** Returns the refusal of a charge that the month has no units for. */
  readonly quotaRefusal: (entry: ChargeEntry) => ApiError;
};

/** How a group goes to the store. */
type GroupWay = {
  readonly lane: AdmissionGroup["lane"];
  readonly sequence: () => number;
  readonly others: readonly ChargeEntry[];
};

/** A call waits no longer than this for its charge. */
const CHARGE_DEADLINE_MS = 4_000;
const RETRY_EVERY_MS = 50;

/**
 * Writes charges to a store that other processes write to as well, and which decides over them. Chunks of jobs go beside
 * the calls, one at a time: no call waits for the results that a chunk brings. Where the store does not answer a group
 * is sent again under its number, until its calls are due an answer: those whose commit was never sent are refused,
 * those of an unknown fate are rejected with an UnsettledError.
 */
export function createSharedChargeLog(dependencies: SharedChargeLogDependencies): ChargeLog {
  const {
    store,
    clock,
    openCalls,
    entriesPerCommitMax,
    timeToKeep,
    rateOf,
    refresh,
    quotaRefusal,
    onCallsWait,
  } = dependencies;
  const later = createLaterCharges(() => void writeLater());
  const calls = createChargeLane({
    clock,
    groupMax: entriesPerCommitMax,
    openCalls,
    pause: Bun.sleep,
    writeGroup: (group, sequence) => writeGroup({ lane: "calls", sequence, others: later.take() }, group),
    fail,
  });
  const chunks = createChargeLane({
    clock,
    groupMax: 1,
    openCalls: () => 0,
    pause: Bun.sleep,
    writeGroup: (group, sequence) => writeGroup({ lane: "chunks", sequence, others: [] }, group),
    fail,
  });

  async function writeGroup(way: GroupWay, group: readonly Waiting[]): Promise<void> {
    try {
      const sentMs = clock.monotonic();
      const admitted = await admit(way, group);
      if (way.lane === "calls") onCallsWait(clock.monotonic() - sentMs);
      settle(group, admitted);
    } catch (error) {
      for (const entry of way.others) later.keep(entry);
      if (error instanceof StorageError || error instanceof UnsettledError || group.length <= 1) {
        fail(group, error);
        return;
      }
      // One entry's own fault must not fail its neighbours: each goes by itself.
      for (const waiting of group) await writeGroup({ ...way, others: [] }, [waiting]);
    }
  }

  async function admit({ lane, sequence, others }: GroupWay, group: readonly Waiting[]): Promise<Admitted> {
    const untilMs = Math.min(...group.map((waiting) => waiting.untilMs));
    const admissions = group.map(({ entry, paidFor }) => {
      return { entry, ...paidFor, rate: entry.calls > 0 ? rateOf(entry) : null };
    });
    const keptAt = lane === "calls" ? timeToKeep() : null;
    const request = { lane, sequence: sequence(), admissions, others, keptAt };
    let unsettled: UnsettledError | undefined;
    for (;;) {
      try {
        return await store.admit(request, rules);
      } catch (error) {
        if (error instanceof UnsettledError) unsettled = error;
        else if (!(error instanceof StorageError)) throw error;
        const isLate = clock.monotonic() + RETRY_EVERY_MS >= untilMs;
        if (isLate || !store.isOpen()) throw unsettled ?? error;
        await Bun.sleep(RETRY_EVERY_MS);
      }
    }
  }

  const rules: AdmissionRules = {
    fits: fitsMonth,
    marksOf: (month, units) => marksOf(ledgerOf(month), units, clock.now()),
    plainUnits: plainUnitsOfMonth,
  };

  /** Reports what became of each charge, in one turn with what the store counts. */
  function settle(group: readonly Waiting[], { outcomes, units }: Admitted): void {
    for (const [index, { settled }] of group.entries()) settled(outcomes[index] === "charged");
    refresh(units);
    for (const [index, { entry, resolve, reject }] of group.entries()) {
      const outcome = outcomes[index] ?? "invoiced";
      if (outcome === "charged") resolve();
      else reject(refusalOf(outcome, entry));
    }
  }

  function refusalOf(outcome: Exclude<AdmissionOutcome, "charged">, entry: ChargeEntry): Error {
    if (outcome === "quota") return quotaRefusal(entry);
    if (outcome === "rate") return new ApiError("rate_limited", undefined, { retryAfterSeconds: 1 });
    if (outcome === "claim_lost") return new ApiError("idempotency_in_progress");
    if (outcome === "chunk_lost") return new ClaimLostError("another process took the chunk over");
    return new StorageError("the month in which the call began has its invoice");
  }

  /** What may be on the disk counts as charged. */
  function fail(group: readonly Waiting[], error: unknown): void {
    for (const { settled } of group) settled(error instanceof UnsettledError);
    for (const { reject } of group) reject(error);
  }

  async function writeLater(): Promise<void> {
    const entries = later.take();
    if (entries.length === 0 || !store.isOpen()) return;
    try {
      await store.record({ entries, replies: [], chunks: [], quotaMarks: [], keptAt: null }, "at_once");
    } catch (error) {
      // Of an unknown fate: a call of no units that is missing does less harm than one that counts twice.
      if (error instanceof StorageError) for (const entry of entries) later.keep(entry);
    }
  }

  return {
    append: (entry, settled, paidFor) =>
      new Promise((resolve, reject) => {
        const untilMs = clock.monotonic() + CHARGE_DEADLINE_MS;
        const lane = paidFor.chunk === null ? calls : chunks;
        lane.push({ entry, paidFor, settled, resolve, reject, untilMs });
      }),
    appendLater: later.keep,
    flush: async () => {
      await Promise.all([calls.drained(), chunks.drained()]);
      await writeLater();
      return later.isEmpty();
    },
    waiting: () => calls.waiting() + chunks.waiting(),
  };
}
