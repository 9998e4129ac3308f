import type { Answer, AtOnce } from "../platform/answer.ts";
import { createBusiestCount } from "../platform/busiest-count.ts";
import type { ChargeEntry, ReplyRecord } from "../store/account-records.ts";
import type { Durability, QuotaMark } from "../store/billing-port.ts";
import { chargeSums } from "../store/charge-sums.ts";
import type { FinishedChunk } from "../store/job-records.ts";
import type { EmbeddedStore } from "../store/port.ts";
import { isStorageFailure } from "../store/storage-error.ts";
import { GROUP_WAIT_MAX_MS, splitGroup } from "./charge-group.ts";
import { createChargeSpacing } from "./charge-spacing.ts";
import { createLaterCharges } from "./later-charges.ts";

/** What a charge pays for, written in the same transaction. */
export type PaidFor = { readonly reply: ReplyRecord | null; readonly chunk: FinishedChunk | null };

/** What holds the units of a charge until it is written. An object, as a function of its own for each charge costs more. */
export type UnitHold = {
  /** Called in the same turn as the commit, so that memory and disk never differ for anyone who looks. */
  readonly settle: (entry: ChargeEntry, isOnDisk: boolean) => void;
};

/** A charge that has not been answered yet. */
export type WaitingCharge = {
  readonly entry: ChargeEntry;
  readonly paidFor: PaidFor;
  readonly hold: UnitHold;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

export type ChargeLog = {
  /**
   * Resolves once the entry is on disk, together with what it pays for. Rejects where nothing of them is, and with an
   * UnsettledError where that cannot be known.
   */
  readonly append: (entry: ChargeEntry, hold: UnitHold, paidFor: PaidFor) => Promise<void>;
  /** Takes an entry that nobody waits for; on disk within two seconds, or together with the next charge. */
  readonly appendLater: (entry: ChargeEntry) => void;
  /**
   * Writes the entries that nobody waits for: all of them to the disk, or those of one account so that reads see them.
   * False where some were not taken. Charges are written with them where that takes no waiting.
   */
  readonly flush: (accountId?: string) => Answer<boolean>;
  /** Writes all that waits and all that comes in meanwhile: for the end. False as `flush`. */
  readonly drain: () => Answer<boolean>;
  /** Milliseconds for which a call may as well wait before it begins: its charge is not written sooner. */
  readonly untilGroupMs: () => number;
  readonly waiting: () => number;
};

/**
 * A whole group of 8 to 64 charges is committed before other calls that have arrived go on, so that the disk works
 * beside the thread. A smaller one gains more from their company, and with a larger one the thread has no time left over:
 * both wait.
 */
const AT_ONCE_MIN = 8;
const AT_ONCE_MAX = 64;

/**
 * Where charges come in one upon the other, a group of fewer than `AT_ONCE_MIN` begins no sooner after the last one,
 * unless all calls that are open are in it: what a commit costs hardly grows with its charges.
 */
const DENSE_SPACE_MS = 0.6;
/** Charges in a millisecond, from one group to the next, from which they are taken to come in one upon the other. */
const DENSE_PER_MS = 4;
/** What a read had committed, and no charge has brought to the disk, goes there by itself. */
const SYNC_WITHIN_MS = 1_000;

/**
 * Writes charges in groups: half of the calls that are open at the busiest share a transaction, at most
 * `entriesPerCommitMax` of them. While one group is on its way to the disk the next is committed, and follows it at once;
 * a few charges wait until the disk is ready, and are one commit. It is waited for beside the thread, not on it. A caller who
 * sends one call after the other never waits for company. A chunk of a job is committed at once, with all that waits: a
 * thread waits for that commit with its next chunk. It is brought to the disk with the next group.
 */
export function createChargeLog(dependencies: {
  store: Pick<EmbeddedStore, "record" | "sync" | "isOpen">;
  monotonic: () => number;
  /** Calls that may still be charged. */
  openCalls: () => number;
  entriesPerCommitMax: number;
  /** Returns the time that is to be kept on disk with the next charges, or null. */
  timeToKeep: () => number | null;
  /** Returns the marks that are to be written with the charges. */
  quotaMarks: (charges: readonly ChargeEntry[]) => readonly QuotaMark[];
}): AtOnce<ChargeLog> {
  const { store, monotonic, openCalls, entriesPerCommitMax, timeToKeep, quotaMarks } = dependencies;
  let queue: WaitingCharge[] = [];
  /** Charges that are committed and not yet on their way to the disk. */
  let committed: readonly WaitingCharge[] = [];
  const later = createLaterCharges(() => writeLater("at_once"));
  let isCommitDue = false;
  let isSyncing = false;
  let groupTimer: Timer | undefined;
  /** Set while sums are committed and not on their way to the disk. */
  let sumsTimer: Timer | undefined;
  const spacing = createChargeSpacing({ monotonic, spaceMs: DENSE_SPACE_MS, densePerMs: DENSE_PER_MS });
  const busiest = createBusiestCount(openCalls);

  function schedule(): void {
    const calls = busiest.rise();
    if (isCommitDue || queue.length + committed.length === 0) return;
    const isLarge = queue.length >= AT_ONCE_MIN;
    const isGroup = queue.length >= Math.floor(calls / 2) && (isLarge || mayBeSmall());
    if (isSyncing) {
      // Of a disk that hangs no more is asked than one group: the thread goes on. The few that come in now and then are
      // one commit when the disk is ready, not several.
      if (isGroup && (isLarge || spacing.isDense()) && committed.length === 0) commitWhole();
    } else if (isGroup || committed.length > 0) commitWhole();
    else groupTimer ??= setTimeout(commitIn, GROUP_WAIT_MAX_MS, setImmediate);
  }

  function mayBeSmall(): boolean {
    return queue.length >= openCalls() || spacing.untilNextMs() === 0;
  }

  function commitWhole(): void {
    const isAtOnce = queue.length >= AT_ONCE_MIN && queue.length <= AT_ONCE_MAX;
    commitIn(isAtOnce ? queueMicrotask : setImmediate);
  }

  function commitIn(later: (work: () => void) => unknown): void {
    clearTimeout(groupTimer);
    groupTimer = undefined;
    isCommitDue = true;
    later(commitDue);
  }

  function commitDue(): void {
    isCommitDue = false;
    commit();
    if (!isSyncing) void syncCommitted();
  }

  async function syncCommitted(): Promise<void> {
    const written = committed;
    committed = [];
    isSyncing = true;
    const isAny = written.length > 0 || sumsTimer !== undefined;
    clearTimeout(sumsTimer);
    sumsTimer = undefined;
    const error = isAny ? await caughtLater(store.sync) : undefined;
    isSyncing = false;
    // The disk has its next group before the calls of this one are answered.
    if (committed.length > 0) void syncCommitted();
    for (const { resolve, reject } of written) {
      if (error === undefined) resolve();
      else reject(error);
    }
    busiest.fade();
    schedule();
  }

  function commit(): void {
    spacing.begin(queue.length);
    const written = writeNext("with_sync");
    // Almost always nothing was left, and the group need not be copied.
    committed = committed.length === 0 ? written : [...committed, ...written];
  }

  function commitNow(): void {
    commit();
    schedule();
  }

  function syncSums(): void {
    if (!store.isOpen()) return;
    // They may have been committed after the sync that runs had begun.
    if (isSyncing) sumsTimer = setTimeout(syncSums, SYNC_WITHIN_MS).unref();
    else void syncCommitted();
  }

  /** Writes the sums that no call waits for; kept for another try where the disk fails. */
  function writeLater(durability: Durability): void {
    const entries = later.take();
    if (entries.length === 0 || !store.isOpen()) return;
    try {
      store.record(
        { sums: chargeSums(entries), replies: [], chunks: [], quotaMarks: [], keptAt: null },
        durability,
      );
      if (durability === "with_sync") sumsTimer ??= setTimeout(syncSums, SYNC_WITHIN_MS).unref();
    } catch (error) {
      if (!isStorageFailure(error)) throw error;
      for (const entry of entries) later.keep(entry);
    }
  }

  function writeGroup(
    group: readonly WaitingCharge[],
    others: readonly ChargeEntry[],
    durability: Durability,
  ): void {
    const entries: ChargeEntry[] = [];
    const replies: ReplyRecord[] = [];
    const chunks: FinishedChunk[] = [];
    for (const { entry, paidFor } of group) {
      entries.push(entry);
      if (paidFor.reply !== null) replies.push(paidFor.reply);
      if (paidFor.chunk !== null) chunks.push(paidFor.chunk);
    }
    entries.push(...others);
    const sums = chargeSums(entries);
    store.record({ sums, replies, chunks, quotaMarks: quotaMarks(sums), keptAt: timeToKeep() }, durability);
  }

  /** Writes the next group. Returns the charges that are committed; the others are rejected. */
  function writeNext(durability: Durability): readonly WaitingCharge[] {
    const { group, rest } = splitGroup(queue, entriesPerCommitMax);
    queue = rest;
    if (group.length === 0) return [];
    const entries = later.take();
    const error = caught(() => writeGroup(group, entries, durability));
    if (error !== undefined) for (const entry of entries) later.keep(entry);
    if (error === undefined || isStorageFailure(error)) return settle(group, error);
    // One entry's own fault must not fail its neighbours: each goes by itself.
    return group.flatMap((waiting) =>
      settle(
        [waiting],
        caught(() => writeGroup([waiting], [], durability)),
      ),
    );
  }

  function flush(): boolean {
    while (queue.length > 0) for (const { resolve } of writeNext("at_once")) resolve();
    writeLater("at_once");
    return later.isEmpty();
  }

  /** Commits all that waits. A read need not stop the thread for the disk, as the calls that are charged wait for it. */
  function flushForRead(): boolean {
    while (queue.length > 0) commit();
    schedule();
    writeLater("with_sync");
    return later.isEmpty();
  }

  return {
    append: (entry, hold, paidFor) =>
      new Promise((resolve, reject) => {
        queue.push({ entry, paidFor, hold, resolve, reject });
        // A caller of `append` learns of the commit in a later turn.
        if (paidFor.chunk === null) schedule();
        else queueMicrotask(commitNow);
      }),
    appendLater: later.keep,
    flush: (accountId) => (accountId === undefined ? flush() : flushForRead()),
    drain: flush,
    waiting: () => queue.length + committed.length,
    // The disk is never idle while there is something for it.
    untilGroupMs: () => 0,
  };
}

/**
 * Settles a group in memory, in the turn of its commit. Returns the charges that are committed. A commit that fails is
 * undone: what a power cut could bring back of it is gone before the next one.
 */
function settle(group: readonly WaitingCharge[], error: unknown): readonly WaitingCharge[] {
  for (const { entry, hold } of group) hold.settle(entry, error === undefined);
  if (error === undefined) return group;
  for (const { reject } of group) reject(error);
  return [];
}

/** Returns the error that the work throws, or undefined. */
function caught(work: () => void): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error ?? new Error("nothing was thrown");
  }
}

/** Returns the error that the work rejects with, or undefined. */
async function caughtLater(work: () => Promise<void>): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error ?? new Error("nothing was thrown");
  }
}
