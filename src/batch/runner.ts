import { ApiError } from "../contract/errors.ts";
import type { Clock } from "../platform/clock.ts";
import { beginCut, type Cut, type CutOutcome } from "./chunking.ts";
import { inOrder } from "./concurrent-map.ts";
import type { GatherFacts } from "./gather-facts.ts";
import type { BatchKind, Chunk, JudgeOutcome, JudgeTask, SplitTask } from "./messages.ts";
import { type Pool, PoolTaskError } from "./pool.ts";
import type { SplitBatch } from "./split.ts";

/** What a batch is judged by, beside its items. */
export type JudgeOptions = {
  readonly deep: boolean;
  readonly dns: boolean;
  readonly country: string | null;
  readonly separator: "," | "\n";
};

export type BatchRunner = {
  /** Counts a batch among those under way: throws `overloaded` at the limit. Dispose of the place at the end. */
  readonly enter: () => Disposable;
  /** Reads a body and begins to cut it into chunks. */
  readonly split: (task: Omit<SplitTask, "chunkItemsMin" | "chunkItemsMax">) => Promise<CutOutcome>;
  /** Judges chunks side by side and yields what they come to in order; reading slowly slows the work down. */
  readonly judge: (
    kind: BatchKind,
    cut: Pick<Cut, "count" | "chunkCount" | "chunks" | "totals" | "hasEnded">,
    options: JudgeOptions,
    signal: AbortSignal,
  ) => AsyncGenerator<JudgeOutcome, void, undefined>;
  readonly underWay: () => number;
};

export type BatchRunnerParts = {
  readonly pool: Pool;
  readonly gatherFacts: GatherFacts;
  readonly clock: Clock;
  /** The work itself, for batches so small that a thread would cost more than it saves. */
  readonly inline: {
    readonly split: SplitBatch;
    readonly judge: (task: JudgeTask) => JudgeOutcome;
    /** Every item answered `check_failed`. */
    readonly failed: (task: JudgeTask) => JudgeOutcome;
  };
  readonly settings: {
    readonly batchesMax: number;
    readonly threads: number;
    readonly lookupTimeoutMs: number;
  };
};

/**
 * Items in a chunk. Fewer cost more messages; more delay the first bytes and leave a thread idle at the end. A batch of
 * 100,000 takes a seventh less time in chunks of 4,000 than in chunks of 1,000.
 */
const CHUNK_ITEMS_MIN = 1000;
const CHUNK_ITEMS_MAX = 4000;
/** Up to here a batch is cut, and a chunk judged, where it arrives. */
const INLINE_ITEMS_MAX = 32;
const INLINE_BYTES_MAX = 8192;

/** Items of a batch that are judged before all of it is cut: a thread is free for them unless others want it. */
const ITEMS_AHEAD_OF_CUT = 32_000;

/** Chunks of a batch that may be ahead of its reader once all of it is cut. */
function chunksAhead(threads: number): number {
  // One chunk in each thread, one waiting for each, and one whose domains are being looked up.
  return threads * 2 + 1;
}

/** The same before all of it is cut. */
function chunksAheadOfCut(threads: number, chunkItems: number): number {
  const ahead = Math.floor(ITEMS_AHEAD_OF_CUT / Math.max(chunkItems, CHUNK_ITEMS_MIN));
  return Math.max(chunksAhead(threads), ahead);
}

/** Tasks of one batch that may wait for a thread at a time: its chunks, and the cutting. */
export function waitingTasksMax(threads: number): number {
  return chunksAheadOfCut(threads, CHUNK_ITEMS_MIN) + 1;
}

/** The way of every batch: cut, look up, judge in threads, in order. */
export function createBatchRunner({
  pool,
  gatherFacts,
  clock,
  inline,
  settings,
}: BatchRunnerParts): BatchRunner {
  let underWay = 0;

  async function judgeChunk(
    kind: BatchKind,
    chunk: Chunk,
    options: JudgeOptions,
    factsOf: ReturnType<GatherFacts>,
    signal: AbortSignal,
  ): Promise<JudgeOutcome> {
    const { domainNumbers } = chunk;
    const task: JudgeTask = {
      kind,
      items: chunk.items,
      count: chunk.count,
      repeats: chunk.repeats,
      domainNumbers,
      facts: domainNumbers === null ? null : await factsOf({ newDomains: chunk.newDomains, domainNumbers }),
      country: options.country,
      separator: options.separator,
      continues: chunk.position > 0,
    };
    const isSmall = chunk.count <= INLINE_ITEMS_MAX && chunk.items.length <= INLINE_BYTES_MAX;
    if (isSmall) return inline.judge(task);
    try {
      return await pool.run("judge", task, { signal });
    } catch (error) {
      if (error instanceof PoolTaskError) return inline.failed(task);
      throw error;
    }
  }

  return {
    enter() {
      if (underWay >= settings.batchesMax) throw new ApiError("overloaded");
      underWay += 1;
      let left = false;
      return {
        [Symbol.dispose]() {
          if (!left) underWay -= 1;
          left = true;
        },
      };
    },
    async split(task) {
      const whole = { ...task, chunkItemsMin: CHUNK_ITEMS_MIN, chunkItemsMax: CHUNK_ITEMS_MAX };
      return task.body.byteLength <= INLINE_BYTES_MAX
        ? await beginCut((tell) => inline.split(whole, tell))
        : await beginCut((tell) => pool.run("split", whole, { tell }));
    },
    judge(kind, { count, chunkCount, chunks, totals, hasEnded }, options, signal) {
      // A body that takes long to cut takes nothing from the time for its look-ups.
      let cutEndedMs: number | null = null;
      totals.then(
        () => {
          cutEndedMs = clock.monotonic();
        },
        () => undefined,
      );
      const deadlineMs = () => (cutEndedMs ?? clock.monotonic()) + settings.lookupTimeoutMs;
      const { deep, dns } = options;
      const factsOf = gatherFacts({ deep, dns, deadlineMs, signal });
      const { threads } = settings;
      const aheadOfCut = chunksAheadOfCut(threads, count / Math.max(chunkCount, 1));
      const windowMax = () => (hasEnded() ? chunksAhead(threads) : aheadOfCut);
      return inOrder(chunks, windowMax, (chunk) => judgeChunk(kind, chunk, options, factsOf, signal));
    },
    underWay: () => underWay,
  };
}
