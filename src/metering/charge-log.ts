import type { Store } from "../store/open.ts";
import { StorageError } from "../store/storage-error.ts";
import { dayOf } from "./period.ts";

/** A charge, or a call of no units. */
export type ChargeEntry = {
  readonly accountId: string;
  readonly planPeriodId: number;
  readonly at: number;
  readonly endpoint: string;
  readonly units: number;
  readonly calls: number;
};

type Waiting = {
  readonly entry: ChargeEntry;
  readonly alongside: (() => void) | undefined;
  /** Called in the same turn as the commit, so that memory and disk never differ for anyone who looks. */
  readonly settled: (isOnDisk: boolean) => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

export type ChargeLog = {
  /** Resolves once the entry is on disk, with whatever `alongside` wrote; rejects where nothing of it is. */
  readonly append: (
    entry: ChargeEntry,
    settled: (isOnDisk: boolean) => void,
    alongside?: () => void,
  ) => Promise<void>;
  /** Takes an entry that nobody waits for; on disk within a second, or together with the next charge. */
  readonly appendLater: (entry: ChargeEntry) => void;
  /** Writes all that waits now. False where the disk did not take the entries that nobody waits for. */
  readonly flush: () => boolean;
  readonly waiting: () => number;
};

const DAY_MS = 86_400_000;
const LATER_MS = 1_000;

/** A charge waits no longer than this for its group. */
const GROUP_WAIT_MAX_MS = 2;

/** Sums kept for calls of no units. When the disk takes none for so long that there are more, calls go uncounted. */
const LATER_ENTRIES_MAX = 10_000;

/**
 * Writes charges in groups: one transaction for half of the calls that are open at the busiest, at most
 * `entriesPerCommitMax` of them. A caller who sends one call after the other never waits for company.
 */
export function createChargeLog(parts: {
  store: Store;
  /** Calls that may still be charged. */
  openCalls: () => number;
  entriesPerCommitMax: number;
}): ChargeLog {
  const { store, openCalls, entriesPerCommitMax } = parts;
  let queue: Waiting[] = [];
  let later = new Map<string, ChargeEntry>();
  let isScheduled = false;
  let groupTimer: Timer | undefined;
  let laterTimer: Timer | undefined;
  /** Calls open at once, at the most; it fades as it quietens. */
  let busiest = 0;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(writeInTurn);
  }

  function scheduleGroup(): void {
    busiest = Math.max(busiest, openCalls());
    if (queue.length >= Math.floor(busiest / 2)) schedule();
    else groupTimer ??= setTimeout(writeInTurn, GROUP_WAIT_MAX_MS);
  }

  function writeInTurn(): void {
    clearTimeout(groupTimer);
    groupTimer = undefined;
    isScheduled = false;
    writeNext();
    busiest = Math.max(openCalls(), Math.floor(busiest * 0.75));
    if (queue.length > 0) schedule();
  }

  function takeLater(): ChargeEntry[] {
    clearTimeout(laterTimer);
    laterTimer = undefined;
    const entries = [...later.values()];
    later = new Map();
    return entries;
  }

  function keepLater(entry: ChargeEntry): void {
    const key = `${entry.planPeriodId} ${dayOf(entry.at)} ${entry.endpoint}`;
    const known = later.get(key);
    if (known === undefined && later.size >= LATER_ENTRIES_MAX) return;
    later.set(key, known === undefined ? entry : { ...known, calls: known.calls + entry.calls });
    laterTimer ??= setTimeout(writeLater, LATER_MS).unref();
  }

  /** The sums that nobody waits for, by themselves; kept for another try where the disk takes none. */
  function writeLater(): void {
    const entries = takeLater();
    if (entries.length === 0) return;
    try {
      writeEntries(store, entries);
    } catch (error) {
      for (const entry of entries) keepLater(entry);
      if (!(error instanceof StorageError)) throw error;
    }
  }

  function writeNext(): void {
    const group = queue.slice(0, entriesPerCommitMax);
    queue = queue.slice(entriesPerCommitMax);
    if (group.length === 0) return;
    const entries = takeLater();
    const error = tryWrite(store, group, entries);
    if (error !== undefined) for (const entry of entries) keepLater(entry);
    if (error === undefined || error instanceof StorageError) settle(group, error);
    // One entry's own fault must not fail its neighbours: each goes by itself.
    else for (const waiting of group) settle([waiting], tryWrite(store, [waiting], []));
  }

  return {
    append: (entry, settled, alongside) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      queue.push({ entry, alongside, settled, resolve, reject });
      scheduleGroup();
      return promise;
    },
    appendLater: keepLater,
    flush: () => {
      // Inside a transaction the entries would be reported as written before they are.
      if (store.isInTransaction()) throw new Error("charges are not written inside another transaction");
      while (queue.length > 0) writeNext();
      writeLater();
      return later.size === 0;
    },
    waiting: () => queue.length,
  };
}

function settle(group: readonly Waiting[], error: unknown): void {
  for (const { settled } of group) settled(error === undefined);
  for (const { resolve, reject } of group) {
    if (error === undefined) resolve();
    else reject(error);
  }
}

function tryWrite(store: Store, group: readonly Waiting[], later: readonly ChargeEntry[]): unknown {
  try {
    store.transact(() => {
      writeEntries(store, [...group.map(({ entry }) => entry), ...later]);
      for (const { alongside } of group) alongside?.();
    });
    return undefined;
  } catch (error) {
    return error ?? new Error("nothing was thrown");
  }
}

/**
 * Events, counters and roll-up, each once for every row that the entries touch: what one account is charged for
 * one endpoint in one commit is one event.
 */
function writeEntries(store: Store, entries: readonly ChargeEntry[]): void {
  const counters = new Map<number, { units: number; calls: number }>();
  const days = new Map<string, ChargeEntry & { units: number; calls: number }>();
  store.transact(() => {
    for (const { accountId, planPeriodId, at, endpoint, units, calls } of entries) {
      const counter = counters.get(planPeriodId);
      if (counter === undefined) counters.set(planPeriodId, { units, calls });
      else {
        counter.units += units;
        counter.calls += calls;
      }
      const key = `${planPeriodId} ${Math.floor(at / DAY_MS)} ${endpoint}`;
      const sums = days.get(key);
      if (sums === undefined) days.set(key, { accountId, planPeriodId, at, endpoint, units, calls });
      else {
        sums.units += units;
        sums.calls += calls;
      }
    }
    for (const [planPeriodId, { units, calls }] of counters)
      store.planPeriods.add(planPeriodId, units, calls);
    for (const { accountId, planPeriodId, at, endpoint, units, calls } of days.values()) {
      if (units > 0) store.usage.insertEvent({ accountId, planPeriodId, at, endpoint, units });
      store.usage.addDay({ accountId, day: dayOf(at), endpoint, calls, units });
    }
  });
}
