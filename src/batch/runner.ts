import type { Clock } from "../clock.ts";
import { ApiError } from "../errors.ts";
import { beginCut, type Cut, type CutOutcome } from "./cut.ts";
import type { GatherFacts } from "./gather-facts.ts";
import { inOrder } from "./in-order.ts";
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
  readonly split: (task: Omit<SplitTask, "chunkItems">) => Promise<CutOutcome>;
  /** Judges chunks side by side and yields what they come to in order; reading slowly slows the work down. */
  readonly judge: (
    kind: BatchKind,
    cut: Pick<Cut, "chunks" | "totals" | "hasEnded">,
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

/** Items in a chunk: fewer cost more messages, more delay the first bytes (measured best between 500 and 1000). */
const CHUNK_ITEMS = 1000;
/** Up to here a batch is cut and judged where it arrives. */
const INLINE_ITEMS_MAX = 32;
const INLINE_BYTES_MAX = 8192;

/** Chunks of a batch that are judged before all of it is cut: a thread is free for them unless others want it. */
const CHUNKS_AHEAD_OF_CUT = 32;

/** Chunks of a batch that may be ahead of its reader. */
function chunksAhead(threads: number, isCut: boolean): number {
  // One chunk in each thread, one waiting for each, and one whose domains are being looked up.
  const usual = threads * 2 + 1;
  return isCut ? usual : Math.max(usual, CHUNKS_AHEAD_OF_CUT);
}

/** Tasks of one batch that may wait for a thread at a time: its chunks, and the cutting. */
export function waitingTasksMax(threads: number): number {
  return chunksAhead(threads, false) + 1;
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
    if (chunk.count <= INLINE_ITEMS_MAX) return inline.judge(task);
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
      const whole = { ...task, chunkItems: CHUNK_ITEMS };
      return task.body.byteLength <= INLINE_BYTES_MAX
        ? await beginCut((tell) => inline.split(whole, tell))
        : await beginCut((tell) => pool.run("split", whole, { tell }));
    },
    judge(kind, { chunks, totals, hasEnded }, options, signal) {
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
      const windowMax = () => chunksAhead(settings.threads, hasEnded());
      return inOrder(chunks, windowMax, (chunk) => judgeChunk(kind, chunk, options, factsOf, signal));
    },
    underWay: () => underWay,
  };
}
