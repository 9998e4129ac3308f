import { ApiError } from "../contract/errors.ts";
import type { Answer } from "../platform/answer.ts";
import type { Clock } from "../platform/clock.ts";
import type { BodyChunker } from "./body-chunker.ts";
import type { ChunkSource } from "./chunk-source.ts";
import { type ChunkSizes, chunkSizes, chunksAhead, chunksAheadOfChunking } from "./chunk-window.ts";
import { type ChunkingStart, startChunking } from "./chunking.ts";
import { mapConcurrently } from "./concurrent-map.ts";
import type { Share } from "./fair-queue.ts";
import type { GatherFacts } from "./gather-facts.ts";
import { FAILURES_PER_BATCH_MAX, type FailureBudget, verifyByHalves } from "./halving.ts";
import { createHeldResults } from "./held-results.ts";
import type { BatchKind, Chunk, ChunkEncoding, ChunkingTask, VerifiedChunk, VerifyTask } from "./messages.ts";
import { type Pool, PoolTaskError } from "./pool.ts";
import { createShares } from "./shares.ts";

/** How a batch is verified. */
export type VerifyOptions = {
  readonly deep: boolean;
  readonly dns: boolean;
  readonly country: string | null;
  readonly separator: "," | "\n";
  /** The encoding of chunks from threads. */
  readonly encoding?: ChunkEncoding | null;
  /** Whose share of threads and look-ups is used. */
  readonly share: Share;
  /** Awaited after the look-ups of a chunk, before it takes a thread. */
  readonly turn?: () => Promise<void>;
  /** What threads of jobs see of the gap between chunks. */
  readonly gap?: SharedArrayBuffer | undefined;
};

export type BatchRunner = {
  /** Counts a batch as running until it is disposed of; throws `overloaded` over the tenant's share. */
  readonly enter: (tenant: string) => Disposable;
  /** Reads a body and starts chunking. */
  readonly startChunking: (
    task: Omit<ChunkingTask, keyof ChunkSizes>,
    share: Share,
  ) => Promise<ChunkingStart>;
  /** Verifies chunks in parallel and yields the results in order, with backpressure. */
  readonly verify: (
    source: ChunkSource,
    options: VerifyOptions,
    signal: AbortSignal,
  ) => AsyncGenerator<VerifiedChunk, void, undefined>;
  /** Returns a verifier of single chunks, which get their facts from `factsOf`. */
  readonly verifyChunk: (
    kind: BatchKind,
    options: Omit<VerifyOptions, "deep" | "dns">,
    factsOf: ReturnType<GatherFacts>,
    signal: AbortSignal,
  ) => (chunk: Chunk) => Promise<VerifiedChunk>;
  readonly underWay: () => number;
};

export type BatchRunnerDependencies = {
  readonly pool: Pool;
  readonly gatherFacts: GatherFacts;
  readonly clock: Clock;
  /** Verifies on the main thread, for batches so small that a thread costs more than it saves. */
  readonly inline: {
    readonly chunkBody: BodyChunker;
    readonly verify: (task: VerifyTask) => Answer<VerifiedChunk>;
    /** Returns `check_failed` for every item. */
    readonly failed: (task: VerifyTask) => Answer<VerifiedChunk>;
  };
  readonly settings: {
    readonly batchesMax: number;
    readonly threads: number;
    readonly lookupTimeoutMs: number;
    readonly taskTimeoutMs: number;
  };
};

/** Up to this size a batch is chunked, and a chunk verified, on the main thread. */
const INLINE_ITEMS_MAX = 32;
const INLINE_BYTES_MAX = 8192;
/** Up to this size a body is chunked within a millisecond: starting verification meanwhile would cost more than it gains. */
const EMITTED_AT_END_BYTES_MAX = 65_536;
/** Running batches that are guaranteed to each tenant. */
const BATCHES_GUARANTEED = 4;
const BATCHES_OVERFLOW = 8;

/** The shortest deadline of a retry: 4,000 items take a tenth of it on an idle machine. */
const RETRY_TIMEOUT_MS_MIN = 500;

/** Returns the deadline of a retry: proportional to its part of the chunk. */
function retryTimeoutMs(taskTimeoutMs: number, part: VerifyTask, whole: VerifyTask): number {
  const partMs = (taskTimeoutMs * part.count) / whole.count;
  return Math.min(taskTimeoutMs, Math.max(RETRY_TIMEOUT_MS_MIN, partMs));
}

/** Creates the pipeline of every batch: chunk, look up, verify in threads, yield in order. */
export function createBatchRunner({
  pool,
  gatherFacts,
  clock,
  inline,
  settings,
}: BatchRunnerDependencies): BatchRunner {
  const places = createShares({
    capacity: settings.batchesMax,
    guaranteed: Math.min(BATCHES_GUARANTEED, settings.batchesMax),
    guaranteedFirst: 1,
    overflow: BATCHES_OVERFLOW,
  });
  const results = createHeldResults();

  async function verifyInThread(
    task: VerifyTask,
    share: Share,
    budget: FailureBudget,
    signal: AbortSignal,
  ): Promise<VerifiedChunk> {
    try {
      return await pool.run("verifyChunk", task, { share, signal });
    } catch (error) {
      if (!(error instanceof PoolTaskError)) throw error;
      budget.left -= 1;
    }
    const retry = (part: VerifyTask) => {
      const timeoutMs = retryTimeoutMs(settings.taskTimeoutMs, part, task);
      return pool.run("verifyChunk", part, { share, signal, isRetry: true, timeoutMs });
    };
    // Halves can only be joined uncompressed.
    return await verifyByHalves({ ...task, encoding: null }, retry, inline.failed, budget);
  }

  function verifyChunk(
    kind: BatchKind,
    options: Omit<VerifyOptions, "deep" | "dns">,
    factsOf: ReturnType<GatherFacts>,
    signal: AbortSignal,
  ): (chunk: Chunk) => Promise<VerifiedChunk> {
    const { country, separator, share, encoding = null, turn, gap = null } = options;
    const budget = { left: FAILURES_PER_BATCH_MAX };
    return async ({ items, count, duplicates, newDomains, domainNumbers, position }) => {
      const facts = domainNumbers === null ? null : await factsOf({ newDomains, domainNumbers });
      await turn?.();
      const continues = position > 0;
      const given = { kind, country, separator, encoding, gap };
      const task = { ...given, items, count, duplicates, domainNumbers, facts, continues };
      const isSmall = count <= INLINE_ITEMS_MAX && items.length <= INLINE_BYTES_MAX;
      return isSmall ? await inline.verify(task) : await verifyInThread(task, share, budget, signal);
    };
  }

  return {
    enter(tenant) {
      if (!places.acquire(tenant, 1)) throw new ApiError("overloaded");
      let left = false;
      return {
        [Symbol.dispose]() {
          if (!left) places.release(tenant, 1);
          left = true;
        },
      };
    },
    async startChunking(task, share) {
      const whole = { ...task, ...chunkSizes(settings.threads) };
      const { byteLength } = task.body;
      if (byteLength <= INLINE_BYTES_MAX) {
        return await startChunking(task.kind, (onEvent) => inline.chunkBody(whole, onEvent));
      }
      const emitsAtEnd = byteLength <= EMITTED_AT_END_BYTES_MAX;
      return await startChunking(task.kind, (onEvent) =>
        pool.runTwice("chunkBody", whole, { share, onEvent, emitsAtEnd }),
      );
    },
    verify({ kind, chunkItems, chunks, ended, hasEnded }, options, signal) {
      // The deadline of the look-ups starts here, so that a slow source does not shorten it.
      let endedMs: number | null = null;
      const atEnd = () => {
        endedMs = clock.monotonic();
      };
      ended.then(atEnd, () => undefined);
      const deadlineMs = () => (endedMs ?? clock.monotonic()) + settings.lookupTimeoutMs;
      const { deep, dns, share } = options;
      const factsOf = gatherFacts({ deep, dns, deadlineMs, signal, tenant: share.tenant });
      const { threads } = settings;
      const aheadOfChunking = chunksAheadOfChunking(threads, chunkItems);
      const windowMax = () => {
        if (results.isTight(share.tenant)) return 1;
        return hasEnded() ? chunksAhead(threads) : aheadOfChunking;
      };
      const verified = verifyChunk(kind, options, factsOf, signal);
      return results.untilRead(share.tenant, (holdResult) =>
        mapConcurrently(chunks, windowMax, async (chunk) => {
          const result = await verified(chunk);
          holdResult(result);
          return result;
        }),
      );
    },
    verifyChunk,
    underWay: () => places.held(),
  };
}
