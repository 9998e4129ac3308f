import { setImmediate as nextTurn } from "node:timers/promises";
import { createBusiestCount } from "../platform/busiest-count.ts";
import type { Clock } from "../platform/clock.ts";
import { StorageError } from "../store/storage-error.ts";
import { GROUP_WAIT_MAX_MS, splitGroup } from "./charge-group.ts";
import type { WaitingCharge } from "./charge-log.ts";
import { createChargeSpacing } from "./charge-spacing.ts";

/** Until when a charge waits is on the monotonic clock. */
export type Waiting = WaitingCharge & { readonly untilMs: number };

export type ChargeLane = {
  readonly push: (waiting: Waiting) => void;
  readonly waiting: () => number;
  /** Milliseconds until the next group is due, at most 8; 0 where charges do not come in one upon the other. */
  readonly untilGroupMs: () => number;
  /** Resolves once the group that is on its way now, if any, is settled; what comes after it is not waited for. */
  readonly current: () => Promise<void>;
  /** Resolves once nothing is on its way. */
  readonly drained: () => Promise<void>;
};

export type ChargeLaneDependencies = {
  readonly clock: Clock;
  /** Waits for a place of a group and returns its release; what waits meanwhile is refused in time. */
  readonly acquire?: () => Promise<() => void>;
  readonly groupMax: number;
  /** Calls that are open and may still be charged. */
  readonly openCalls: () => number;
  /** Settles every one of a group, whatever becomes of it. `sequence` counts up with each. */
  readonly writeGroup: (group: readonly Waiting[], sequence: () => number) => Promise<void>;
  readonly fail: (group: readonly Waiting[], error: unknown) => void;
  readonly pause: (ms: number) => Promise<void>;
};

const LOOK_EVERY_MS = 200;
/**
 * Where charges come in one upon the other, a group begins no sooner after the last one, unless nearly all calls that are
 * open are in it: what it costs hardly grows with its charges, and calls that come one by one would each have one.
 */
const DENSE_SPACE_MS = 8;
/** Charges in a millisecond, from one group to the next, from which they are taken to come in one upon the other. */
const DENSE_PER_MS = 1;
/** Those who were answered last are not all back yet; a few that stream large replies need no group. */
const SHARE_OF_OTHERS = 0.75;

/**
 * Writes charges group by group: what comes in while one is on its way is the next. A group waits for most of the calls
 * that are open at the busiest, as what a transaction costs hardly grows with its charges; a caller who sends one call
 * after the other never waits for company.
 */
export function createChargeLane(dependencies: ChargeLaneDependencies): ChargeLane {
  const { clock, acquire, groupMax, openCalls, writeGroup, fail, pause } = dependencies;
  let queue: Waiting[] = [];
  let writing: Promise<void> | null = null;
  let current: Promise<void> | null = null;
  let overdueTimer: Timer | undefined;
  const busiest = createBusiestCount(openCalls);
  let sequence = 0;
  const spacing = createChargeSpacing({
    monotonic: clock.monotonic,
    spaceMs: DENSE_SPACE_MS,
    densePerMs: DENSE_PER_MS,
  });
  let enough: { readonly charges: number; readonly reach: () => void } | null = null;

  function schedule(): void {
    if (queue.length === 0) return;
    overdueTimer ??= setInterval(refuseOverdue, LOOK_EVERY_MS);
    writing ??= writeAll().finally(() => {
      writing = null;
      schedule();
    });
  }

  async function writeAll(): Promise<void> {
    while (queue.length > 0) {
      // Calls that arrive in one turn share a group.
      await nextTurn();
      const others = Math.min(busiest.current(), groupMax) - 1;
      await company(others);
      const release = await acquire?.();
      current = writeNext();
      await current.finally(release);
      current = null;
      busiest.fade();
    }
  }

  async function writeNext(): Promise<void> {
    const { group, rest } = splitGroup(queue, groupMax);
    queue = rest;
    spacing.begin(group.length);
    // What waited has been refused meanwhile.
    if (group.length === 0) return;
    await writeGroup(group, () => {
      sequence += 1;
      return sequence;
    });
  }

  /** Waits for the charges of most other calls, or until the group is due. */
  async function company(others: number): Promise<void> {
    const spaceMs = spacing.untilNextMs();
    const charges = spaceMs > GROUP_WAIT_MAX_MS ? others : Math.floor(others * SHARE_OF_OTHERS);
    if (queue.length >= charges) return;
    const { promise, resolve: reach } = Promise.withResolvers<void>();
    enough = { charges, reach };
    await Promise.race([pause(Math.max(GROUP_WAIT_MAX_MS, spaceMs)), promise]);
    enough = null;
  }

  function refuseOverdue(): void {
    const nowMs = clock.monotonic();
    const overdue = queue.filter(({ untilMs }) => untilMs <= nowMs);
    if (overdue.length > 0) {
      queue = queue.filter(({ untilMs }) => untilMs > nowMs);
      fail(overdue, new StorageError("the database takes no charges"));
    }
    if (queue.length > 0 || writing !== null) return;
    clearInterval(overdueTimer);
    overdueTimer = undefined;
  }

  return {
    push(waiting) {
      queue.push(waiting);
      busiest.rise();
      if (enough !== null && queue.length >= enough.charges) enough.reach();
      schedule();
    },
    waiting: () => queue.length,
    untilGroupMs: spacing.untilNextMs,
    current: async () => {
      await current;
    },
    drained: async () => {
      while (writing !== null) await writing;
    },
  };
}
