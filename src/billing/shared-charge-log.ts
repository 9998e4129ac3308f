import { ApiError } from "../contract/errors.ts";
import type { Clock } from "../platform/clock.ts";
import { createSemaphore } from "../platform/semaphore.ts";
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
import {
  isStorageFailure,
  NoRoomError,
  RowsHeldError,
  StorageError,
  UnsettledError,
} from "../store/storage-error.ts";
import { fitsMonth, plainUnitsOfMonth } from "./admission.ts";
import {
  type ChargeLane,
  type ChargeLaneDependencies,
  createChargeLane,
  type Waiting,
} from "./charge-lane.ts";
import type { ChargeLog } from "./charge-log.ts";
import { createLanesApart } from "./lanes-apart.ts";
import { createLaterCharges, type LaterCharges } from "./later-charges.ts";
import { createLaterRecordings } from "./later-recordings.ts";
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
  /** Returns the refusal of a call that is above it. */
  readonly rateRefusal: (entry: ChargeEntry) => ApiError;
  /** Called with what the store counts now, before those who were refused are answered. */
  readonly refresh: (units: ReadonlyMap<number, number>) => void;
  /** Returns the refusal of a charge that the month has no units for. */
  readonly quotaRefusal: (entry: ChargeEntry) => ApiError;
};

/** How a group goes to the store. */
type GroupWay = {
  readonly lane: AdmissionGroup["lane"];
  readonly apart: string | null;
  readonly sequence: () => number;
  readonly others: readonly ChargeEntry[];
};

/** A call waits no longer than this for its charge. */
const CHARGE_DEADLINE_MS = 4_000;
const RETRY_EVERY_MS = 50;
/** Groups of accounts that are apart, at once: most connections are left to all others. */
const APART_MAX = 4;

/**
 * Writes charges to a store that other processes write to as well, and which decides over them. Chunks of jobs go
 * beside the calls, one at a time: no call waits for the results that a chunk brings. Where the store does not answer a
 * group is sent again under its number, until its calls are due an answer: those whose commit was never sent are
 * refused, those of an unknown fate are rejected with an UnsettledError, and where its disk is full all are refused at
 * once. Where another session holds a row of one of its accounts, each of them goes by itself until a charge of it is
 * written, and all others go on.
 */
export function createSharedChargeLog(dependencies: SharedChargeLogDependencies): ChargeLog {
  const {
    store,
    clock,
    openCalls,
    entriesPerCommitMax,
    timeToKeep,
    rateOf,
    rateRefusal,
    refresh,
    quotaRefusal,
    onCallsWait,
  } = dependencies;
  const later: LaterCharges = createLaterCharges(() => void recordings.write());
  const common = {
    calls: laneOf({
      groupMax: entriesPerCommitMax,
      openCalls,
      writeGroup: (group, sequence) =>
        writeGroup({ lane: "calls", apart: null, sequence, others: later.take(isCommon) }, group),
    }),
    chunks: laneOf({
      groupMax: 1,
      openCalls: () => 0,
      writeGroup: (group, sequence) =>
        writeGroup({ lane: "chunks", apart: null, sequence, others: [] }, group),
    }),
  };
  /** Counts the groups of all accounts that are apart, whose lanes come and go. */
  let apartSequence = 0;
  const sequence = () => {
    apartSequence += 1;
    return apartSequence;
  };
  const places = createSemaphore(APART_MAX);
  const apart = createLanesApart((accountId) => {
    const ownLane = (lane: AdmissionGroup["lane"], groupMax: number) =>
      laneOf({
        groupMax,
        openCalls: () => 0,
        acquire: places.acquire,
        writeGroup: (group) => writeGroup({ lane, apart: accountId, sequence, others: [] }, group),
      });
    return { calls: ownLane("calls", entriesPerCommitMax), chunks: ownLane("chunks", 1) };
  });

  const isCommon = ({ accountId }: ChargeEntry): boolean => apart.of(accountId) === undefined;

  const recordings = createLaterRecordings({
    store,
    later,
    apart,
    isCommon,
    withCalls: common.calls.current,
  });

  function laneOf(
    own: Pick<ChargeLaneDependencies, "acquire" | "groupMax" | "openCalls" | "writeGroup">,
  ): ChargeLane {
    return createChargeLane({ clock, pause: Bun.sleep, fail, ...own });
  }

  /** Nothing of the group was written; whose rows are held is not known. */
  function setApart({ lane, others }: GroupWay, group: readonly Waiting[]): void {
    for (const { accountId } of others) apart.begin(accountId);
    for (const waiting of group) apart.begin(waiting.entry.accountId)[lane].push(waiting);
  }

  async function writeGroup(way: GroupWay, group: readonly Waiting[]): Promise<void> {
    try {
      const sentMs = clock.monotonic();
      const admitted = await admit(way, group);
      if (way.lane === "calls" && way.apart === null) onCallsWait(clock.monotonic() - sentMs);
      settle(group, admitted);
      if (way.apart !== null) apart.end(way.apart);
    } catch (error) {
      // Of an unknown fate: a call of no units that is missing does less harm than one that counts twice.
      if (!(error instanceof UnsettledError)) for (const entry of way.others) later.keep(entry);
      if (error instanceof RowsHeldError && way.apart === null) {
        setApart(way, group);
        return;
      }
      if (isStorageFailure(error) || group.length <= 1) {
        fail(group, error);
        return;
      }
      // One entry's own fault must not fail its neighbours: each goes by itself.
      for (const waiting of group) await writeGroup({ ...way, others: [] }, [waiting]);
    }
  }

  /**
   * Sends a group until the store answers, or its first call is due an answer. Throws at once where waiting is of no
   * use: the disk is full, or rows are held for which the accounts of the group are to be set apart.
   */
  async function admit(way: GroupWay, group: readonly Waiting[]): Promise<Admitted> {
    const { lane, sequence, others } = way;
    const untilMs = Math.min(...group.map((waiting) => waiting.untilMs));
    const admissions = group.map(({ entry, paidFor }) => {
      return { entry, ...paidFor, rate: entry.calls > 0 ? rateOf(entry) : null };
    });
    const keptAt = lane === "calls" && way.apart === null ? timeToKeep() : null;
    const own = way.apart === null ? {} : { apart: way.apart };
    const request = { lane, ...own, sequence: sequence(), admissions, others, keptAt };
    let unsettled: UnsettledError | undefined;
    for (;;) {
      try {
        return await store.admit(request, rules);
      } catch (error) {
        if (error instanceof UnsettledError) unsettled = error;
        else if (!(error instanceof StorageError)) throw unsettled ?? error;
        const isFinal =
          error instanceof NoRoomError || (error instanceof RowsHeldError && way.apart === null);
        // A group that may have been written is sent again until that is known, whatever else fails.
        if (isFinal && unsettled === undefined) throw error;
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
    for (const [index, { entry, hold }] of group.entries()) {
      hold.settle(entry, outcomes[index] === "charged");
    }
    refresh(units);
    for (const [index, { entry, resolve, reject }] of group.entries()) {
      const outcome = outcomes[index] ?? "invoiced";
      if (outcome === "charged") resolve();
      else reject(refusalOf(outcome, entry));
    }
  }

  function refusalOf(outcome: Exclude<AdmissionOutcome, "charged">, entry: ChargeEntry): Error {
    if (outcome === "quota") return quotaRefusal(entry);
    if (outcome === "rate") return rateRefusal(entry);
    if (outcome === "claim_lost") return new ApiError("idempotency_in_progress");
    if (outcome === "chunk_lost") return new ClaimLostError("another process took the chunk over");
    return new StorageError("the month in which the call began has its invoice");
  }

  /** What may be on the disk counts as charged. */
  function fail(group: readonly Waiting[], error: unknown): void {
    for (const { entry, hold } of group) hold.settle(entry, error instanceof UnsettledError);
    for (const { reject } of group) reject(error);
  }

  async function flush(accountId?: string): Promise<boolean> {
    await recordings.write(accountId);
    return later.isEmpty();
  }

  return {
    append: (entry, hold, paidFor) =>
      new Promise((resolve, reject) => {
        const untilMs = clock.monotonic() + CHARGE_DEADLINE_MS;
        const lane = paidFor.chunk === null ? "calls" : "chunks";
        (apart.of(entry.accountId) ?? common)[lane].push({
          entry,
          paidFor,
          hold,
          resolve,
          reject,
          untilMs,
        });
      }),
    appendLater: later.keep,
    flush,
    drain: async () => {
      await Promise.all([common.calls.drained(), common.chunks.drained(), apart.drained()]);
      return flush();
    },
    untilGroupMs: common.calls.untilGroupMs,
    waiting: () => common.calls.waiting() + common.chunks.waiting() + apart.waiting(),
  };
}
