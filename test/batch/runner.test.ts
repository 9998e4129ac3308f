import { describe, expect, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { waitingTasksMax } from "../../src/batch/chunk-window.ts";
import { INTERACTIVE_WEIGHT } from "../../src/batch/fair-queue.ts";
import { createGatherFacts } from "../../src/batch/gather-facts.ts";
import type { Chunk, ChunkingEvent, ChunkingOutcome } from "../../src/batch/messages.ts";
import type { Pool } from "../../src/batch/pool.ts";
import { createBatchRunner, type VerifyOptions } from "../../src/batch/runner.ts";
import { createFactsBuffer } from "../../src/batch/shared-facts.ts";
import type { DomainFactsSource, FactsOptions } from "../../src/domains/facts.ts";
import type { KnownDomain } from "../../src/domains/known-domains.ts";
import { createSharedGap } from "../../src/jobs/shared-gap.ts";

const CHUNKS = 40;
const CHUNK_ITEMS = 1000;
const THREADS = 2;
const LOOKUP_TIMEOUT_MS = 500;
const share = { tenant: "one", weight: INTERACTIVE_WEIGHT };
const OPTIONS: VerifyOptions = { deep: false, dns: true, country: null, separator: ",", share };

/** Each chunk has a domain of its own. */
const chunkAt = (number: number): Chunk => ({
  position: number * CHUNK_ITEMS,
  items: "[]",
  count: CHUNK_ITEMS,
  duplicates: new Uint32Array(0),
  newDomains: `d${number}.com`,
  domainNumbers: Uint32Array.of(number),
});

const known = (domain: string): KnownDomain => ({
  json: JSON.stringify({ domain }),
  epoch: 0,
  expiresAtMs: Number.POSITIVE_INFINITY,
  isFailure: false,
  domainVerdict: null,
});

/** A runner over threads that chunk and verify when the test says so, and a DNS that replies at once. */
function heldRunner() {
  const chunking = Promise.withResolvers<ChunkingOutcome>();
  let emit: (event: ChunkingEvent) => void = () => undefined;
  const verifying: (() => void)[] = [];
  const lookups: FactsOptions[] = [];
  let nowMs = 1000;
  const outcome = { bytes: new Uint8Array(1), counts: {}, chargeable: 1, failures: 0 };
  const tasks: object[] = [];
  const run = (name: string, task: object, options?: { readonly onEvent?: typeof emit }) => {
    if (name === "chunkBody") {
      emit = options?.onEvent ?? emit;
      return chunking.promise;
    }
    tasks.push(task);
    return new Promise((resolve) => verifying.push(() => resolve(outcome)));
  };
  const findDomain = async (domain: string, options: FactsOptions) => {
    lookups.push(options);
    return known(domain);
  };
  const source = { findDomain, knownDomain: () => undefined } as unknown as DomainFactsSource;
  const unused = () => {
    throw new Error("nothing is done inline here");
  };
  const clock = { now: () => 0, monotonic: () => nowMs };
  const runner = createBatchRunner({
    pool: { run, runTwice: run } as unknown as Pool,
    gatherFacts: createGatherFacts(source, createFactsBuffer(), 8, clock),
    clock,
    inline: { chunkBody: unused, verify: unused, failed: unused },
    settings: { batchesMax: 1, threads: THREADS, lookupTimeoutMs: LOOKUP_TIMEOUT_MS, taskTimeoutMs: 1000 },
  });
  return {
    runner,
    tasks,
    verifying,
    lookups,
    pass: (ms: number) => {
      nowMs += ms;
    },
    emit: (from: number, to: number) =>
      emit({ chunks: Array.from({ length: to - from }, (_, n) => chunkAt(from + n)) }),
    begin: () => emit({ head: { count: CHUNKS * CHUNK_ITEMS, chunkCount: CHUNKS, options: {} } }),
    end: () => chunking.resolve({ ok: true, distinct: 1 }),
  };
}

const body = new Uint8Array(100_000);

/** Lets everything run that waits for no other: each chunk that is taken takes a turn of the loop, or a few. */
async function settle() {
  for (let turn = 0; turn < CHUNKS * 10; turn += 1) await nextTurn();
}

async function halfChunked() {
  const held = heldRunner();
  const task = { kind: "email", form: "json", body, itemsMax: CHUNKS * CHUNK_ITEMS } as const;
  const starting = held.runner.startChunking(task, share);
  held.begin();
  const chunked = await starting;
  if (!chunked.ok) throw new Error(chunked.message);
  const results = held.runner.verify(chunked, OPTIONS, new AbortController().signal);
  return { ...held, results };
}

describe("a batch that is still being chunked", () => {
  test("is verified meanwhile, up to a limit that the pool's queue has room for", async () => {
    const { results, verifying, emit } = await halfChunked();
    void results.next();
    emit(0, 3);
    await settle();
    expect(verifying.length).toBe(3);
    emit(3, CHUNKS);
    await settle();
    expect(verifying.length).toBeGreaterThan(THREADS * 2 + 1);
    expect(verifying.length).toBeLessThanOrEqual(waitingTasksMax(THREADS));
  });

  test("is verified no further ahead of its reader than others once it is chunked", async () => {
    const { results, verifying, emit, end } = await halfChunked();
    const first = results.next();
    emit(0, CHUNKS);
    end();
    await settle();
    let taken = 0;
    for (let at = 0; at < 30; at += 1) {
      while (verifying.length <= at) await settle();
      verifying[at]?.();
      expect((await (at === 0 ? first : results.next())).done).toBe(false);
      taken += 1;
    }
    await settle();
    expect(verifying.length - taken).toBeLessThanOrEqual(THREADS * 2 + 1);
  });

  test("does not lose the time for its look-ups to the chunking", async () => {
    const { results, lookups, emit, pass } = await halfChunked();
    void results.next();
    emit(0, 1);
    await settle();
    pass(10_000);
    emit(1, 2);
    await settle();
    const deadlines = lookups.map(({ deadlineMs }) => deadlineMs);
    expect(deadlines).toEqual([1000 + LOOKUP_TIMEOUT_MS, 11_000 + LOOKUP_TIMEOUT_MS]);
  });

  test("has one deadline for the look-ups that are left once it is chunked", async () => {
    const { results, verifying, lookups, emit, end, pass } = await halfChunked();
    const first = results.next();
    emit(0, CHUNKS);
    end();
    await settle();
    pass(300);
    for (const verified of verifying) verified();
    await first;
    while (lookups.length < CHUNKS) {
      for (const verified of verifying) verified();
      await results.next();
    }
    expect(new Set(lookups.map(({ deadlineMs }) => deadlineMs))).toEqual(new Set([1000 + LOOKUP_TIMEOUT_MS]));
  });
});

test("the gap of jobs goes to the thread that verifies a chunk, and batches have none", async () => {
  const { runner, tasks } = heldRunner();
  const { memory: gap } = createSharedGap();
  const { signal } = new AbortController();
  const factsOf = async () => ({ buffers: [], offsets: new SharedArrayBuffer(0) });
  void runner.verifyChunk("email", { ...OPTIONS, gap }, factsOf, signal)(chunkAt(0));
  void runner.verifyChunk("email", OPTIONS, factsOf, signal)(chunkAt(1));
  await settle();
  expect(tasks.map((task) => "gap" in task && task.gap)).toEqual([gap, null]);
  expect((tasks[0] as { gap?: unknown }).gap).toBe(gap);
});
