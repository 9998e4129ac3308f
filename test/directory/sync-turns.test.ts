import { expect, test } from "bun:test";
import { createSyncTurns } from "../../src/directory/sync/sync-turns.ts";
import type { SyncOutcome } from "../../src/directory/sync/syncer.ts";

/** How long a turn lasts without being asked for. */
const TURN_MS = 5_000;

test("a first sync that takes longer than a turn keeps it: the turn is asked for meanwhile", async () => {
  let ms = 0;
  let waiting: { readonly atMs: number; readonly resolve: () => void }[] = [];
  const askedMs: number[] = [];
  let isSynced = false;
  async function advance(): Promise<void> {
    ms += 250;
    for (const { resolve } of waiting.filter(({ atMs }) => atMs <= ms)) resolve();
    waiting = waiting.filter(({ atMs }) => atMs > ms);
    await new Promise(setImmediate);
  }
  const turns = createSyncTurns({
    turns: {
      takeDirectoryTurn: async () => {
        askedMs.push(ms);
        return { term: 1, revision: 0, syncedAt: 0, upstreamAgeMs: 0 };
      },
      leaveDirectoryTurn: async () => {},
    },
    async lead() {
      while (ms < 4 * TURN_MS) await advance();
      isSynced = true;
      return { kind: "unchanged" } as unknown as SyncOutcome;
    },
    follow: async () => ({ kind: "followed", revision: 0 }) as unknown as SyncOutcome,
    confirmed: () => {},
    failed: (error) => expect(error).toBeNull(),
    intervalMs: 60_000,
    clock: { now: () => ms, monotonic: () => ms },
    random: () => 0,
    wait: (lastMs, signal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve());
        waiting.push({ atMs: ms + lastMs, resolve });
      }),
  });
  await turns.start({ until: () => isSynced, withinMs: 60_000 });
  await turns.stop();
  const longestMs = Math.max(...[...askedMs, ms].map((at, n) => at - (askedMs[n - 1] ?? 0)));
  expect([isSynced, longestMs < TURN_MS / 2]).toEqual([true, true]);
});
