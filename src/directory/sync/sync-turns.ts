import type { Clock } from "../../platform/clock.ts";
import type { DirectoryAge, DirectoryTurn, DirectoryTurnPort } from "../../store/directory-port.ts";
import { nextDelayMs } from "./schedule.ts";
import type { SyncOutcome } from "./syncer.ts";

export type SyncTurnDependencies = {
  readonly turns: DirectoryTurnPort;
  /** Syncs with the source, in a term of this process. */
  readonly lead: (term: number) => Promise<SyncOutcome>;
  /** Takes over what is published. */
  readonly follow: () => Promise<SyncOutcome>;
  /** What is published was the source's again. */
  readonly confirmed: (age: DirectoryAge) => void;
  readonly failed: (error: unknown) => void;
  readonly intervalMs: number;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
};

const LOOK_EVERY_MS = 1_000;
const SOON_MS = 100;

/**
 * Has this process sync the directory of a cluster while it is its turn, and follow the one whose turn it is
 * otherwise. It looks each second, also while a sync is under way: who syncs must not lose its turn by that.
 */
export function createSyncTurns(dependencies: SyncTurnDependencies) {
  const { turns, clock } = dependencies;
  const controller = new AbortController();
  let term: number | null = null;
  let followed = 0;
  let dueMs = 0;
  let failures = 0;
  /** A sync or a take-over: one at a time. */
  let working: Promise<SyncOutcome> | null = null;

  const work = (begin: () => Promise<SyncOutcome>): Promise<SyncOutcome> => {
    working ??= begin().finally(() => {
      working = null;
    });
    return working;
  };
  const look = async (): Promise<DirectoryTurn> => {
    const turn = await turns.takeDirectoryTurn();
    // Who had it before may have been away for long.
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
    const turn = await look();
    if (working !== null) return;
    await catchUp(turn);
    if (turn.term === null || turn.revision !== followed || clock.monotonic() < dueMs) return;
    void lead(turn.term);
  };
  const stepSafely = (): Promise<void> => step().catch(dependencies.failed);
  const run = async (): Promise<void> => {
    while (!controller.signal.aborted) {
      await dependencies.wait(LOOK_EVERY_MS, controller.signal);
      if (!controller.signal.aborted) await stepSafely();
    }
  };
  /** One look at a time, and one for all that ask for another meanwhile. */
  let looking: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const refresh = (): Promise<void> => {
    if (looking === null) {
      looking = (async () => {
        if (working !== null) await working;
        await catchUp(await look());
      })()
        .catch(dependencies.failed)
        .finally(() => {
          looking = null;
        });
      return looking;
    }
    next ??= looking.then(() => {
      next = null;
      return refresh();
    });
    return next;
  };
  return {
    /** Looks at once, then each second. Where `until` is false, goes on looking for up to `withinMs` until it is not. */
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
        if (working !== null) await working;
        else {
          await dependencies.wait(SOON_MS, controller.signal);
          await stepSafely();
        }
      }
      void run();
    },
    /** Syncs now where it is this process's turn, else takes over what is published. */
    async sync(): Promise<SyncOutcome> {
      if (working !== null) return working;
      const turn = await look();
      await catchUp(turn);
      return turn.term === null ? work(dependencies.follow) : lead(turn.term);
    },
    /** Takes over what was published before the call. */
    refresh,
    isLeading: () => term !== null,
    async stop(): Promise<void> {
      controller.abort();
      if (term !== null) await Promise.resolve(turns.leaveDirectoryTurn()).catch(dependencies.failed);
      term = null;
    },
  };
}
