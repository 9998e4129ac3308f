import type { Clock } from "../../platform/clock.ts";
import type { DirectoryAge, DirectoryTurn, DirectoryTurnPort } from "../../store/directory-port.ts";
import { nextDelayMs } from "./schedule.ts";
import type { SyncOutcome } from "./syncer.ts";

export type SyncTurnDependencies = {
  readonly turns: DirectoryTurnPort;
  /** Syncs with the source, in a term of this process. */
  readonly lead: (term: number) => Promise<SyncOutcome>;
  /** Adopts the published state. */
  readonly follow: () => Promise<SyncOutcome>;
  /** Called when the source has confirmed the published state. */
  readonly confirmed: (age: DirectoryAge) => void;
  readonly failed: (error: unknown) => void;
  readonly intervalMs: number;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
};

const POLL_MS = 1_000;
const START_POLL_MS = 100;

/**
 * Syncs the directory of a cluster while this process leads, and follows the leader otherwise. It polls every second,
 * also during a sync, so that a leader does not lose its turn by a long one.
 */
export function createSyncTurns(dependencies: SyncTurnDependencies) {
  const { turns, clock } = dependencies;
  const controller = new AbortController();
  let term: number | null = null;
  let followed = 0;
  let dueMs = 0;
  let failures = 0;
  /** The running sync or adoption: one at a time. */
  let working: Promise<SyncOutcome> | null = null;

  const work = (begin: () => Promise<SyncOutcome>): Promise<SyncOutcome> => {
    working ??= begin().finally(() => {
      working = null;
    });
    return working;
  };
  const poll = async (): Promise<DirectoryTurn> => {
    const turn = await turns.takeDirectoryTurn();
    // The leader before may have been away for long, so a sync is due.
    if (turn.term !== null && turn.term !== term) dueMs = 0;
    term = turn.term;
    return turn;
  };
  const lead = (led: number): Promise<SyncOutcome> =>
    work(async () => {
      const outcome = await dependencies.lead(led);
      failures = outcome.kind === "failed" ? failures + 1 : 0;
      dueMs = clock.monotonic() + nextDelayMs(outcome, failures, dependencies);
      return outcome;
    });
  const catchUp = async (turn: DirectoryTurn): Promise<void> => {
    if (turn.revision === followed) {
      if (turn.term === null) dependencies.confirmed(turn);
      return;
    }
    const outcome = await work(dependencies.follow);
    if (outcome.kind === "followed") followed = outcome.revision;
  };
  const step = async (): Promise<void> => {
    const turn = await poll();
    if (working !== null) return;
    await catchUp(turn);
    if (turn.term === null || turn.revision !== followed || clock.monotonic() < dueMs) return;
    void lead(turn.term);
  };
  const stepSafely = (): Promise<void> => step().catch(dependencies.failed);
  const run = async (): Promise<void> => {
    while (!controller.signal.aborted) {
      await dependencies.wait(POLL_MS, controller.signal);
      if (!controller.signal.aborted) await stepSafely();
    }
  };
  /** One poll at a time, and one more for all callers meanwhile. */
  let polling: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const refresh = (): Promise<void> => {
    if (polling === null) {
      polling = (async () => {
        if (working !== null) await working;
        await catchUp(await poll());
      })()
        .catch(dependencies.failed)
        .finally(() => {
          polling = null;
        });
      return polling;
    }
    next ??= polling.then(() => {
      next = null;
      return refresh();
    });
    return next;
  };
  return {
    /** Polls at once, then every second. Resolves once `until` is true, or after `withinMs`. */
    async start({
      until,
      withinMs,
    }: {
      readonly until: () => boolean;
      readonly withinMs: number;
    }): Promise<void> {
      const startedMs = clock.monotonic();
      await stepSafely();
      while (!until() && clock.monotonic() - startedMs < withinMs && !controller.signal.aborted) {
        if (working === null) await dependencies.wait(START_POLL_MS, controller.signal);
        else await Promise.race([working, dependencies.wait(POLL_MS, controller.signal)]);
        if (!until() && !controller.signal.aborted) await stepSafely();
      }
      void run();
    },
    /** Syncs now where this process leads, else adopts the published state. */
    async sync(): Promise<SyncOutcome> {
      if (working !== null) return working;
      const turn = await poll();
      await catchUp(turn);
      return turn.term === null ? work(dependencies.follow) : lead(turn.term);
    },
    /** Adopts the state that was published before the call. */
    refresh,
    isLeading: () => term !== null,
    async stop(): Promise<void> {
      controller.abort();
      if (term !== null) await Promise.resolve(turns.leaveDirectoryTurn()).catch(dependencies.failed);
      term = null;
    },
  };
}
