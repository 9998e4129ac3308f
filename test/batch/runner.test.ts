import { describe, expect, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createGatherFacts } from "../../src/batch/gather-facts.ts";
import type { Chunk, SplitEvent, SplitOutcome } from "../../src/batch/messages.ts";
import type { Pool } from "../../src/batch/pool.ts";
import { createBatchRunner, type JudgeOptions, waitingTasksMax } from "../../src/batch/runner.ts";
import { createFactsBoard } from "../../src/batch/shared-facts.ts";
import type { DomainFactsSource, FactsOptions, KnownDomain } from "../../src/domains/facts.ts";

const CHUNKS = 40;
const CHUNK_ITEMS = 1000;
const THREADS = 2;
const LOOKUP_TIMEOUT_MS = 500;
const OPTIONS: JudgeOptions = { deep: false, dns: true, country: null, separator: "," };

/** Each chunk has a domain of its own. */
const chunkAt = (number: number): Chunk => ({
  position: number * CHUNK_ITEMS,
  items: "[]",
  count: CHUNK_ITEMS,
  repeats: [],
  newDomains: `d${number}.com`,
  domainNumbers: Uint32Array.of(number),
});

const known = (domain: string): KnownDomain => ({ json: JSON.stringify({ domain }), judgement: null });

/** A runner over threads that cut and judge when the test says so, and a DNS that answers at once. */
function heldRunner() {
  const cutting = Promise.withResolvers<SplitOutcome>();
  let tell: (event: SplitEvent) => void = () => undefined;
  const judging: (() => void)[] = [];
  const lookups: FactsOptions[] = [];
  let nowMs = 1000;
  const outcome = { bytes: new Uint8Array(1), counts: {}, chargeable: 1 };
  const run = (name: string, _task: object, options?: { readonly tell?: typeof tell }) => {
    if (name === "split") {
      tell = options?.tell ?? tell;
      return cutting.promise;
    }
    return new Promise((resolve) => judging.push(() => resolve(outcome)));
  };
  const findDomain = async (domain: string, options: FactsOptions) => {
    lookups.push(options);
    return known(domain);
  };
  const source = { findDomain, knownDomain: () => undefined } as unknown as DomainFactsSource;
  const unused = () => {
    throw new Error("nothing is done inline here");
  };
  const runner = createBatchRunner({
    pool: { run } as unknown as Pool,
    gatherFacts: createGatherFacts(source, createFactsBoard(), 8),
    clock: { now: () => 0, monotonic: () => nowMs },
    inline: { split: unused, judge: unused, failed: unused },
    settings: { batchesMax: 1, threads: THREADS, lookupTimeoutMs: LOOKUP_TIMEOUT_MS },
  });
  return {
    runner,
    judging,
    lookups,
    pass: (ms: number) => {
      nowMs += ms;
    },
    tell: (from: number, to: number) =>
      tell({ chunks: Array.from({ length: to - from }, (_, n) => chunkAt(from + n)) }),
    begin: () => tell({ head: { count: CHUNKS * CHUNK_ITEMS, chunkCount: CHUNKS, options: {} } }),
    end: () => cutting.resolve({ ok: true, distinct: 1 }),
  };
}

const body = new Uint8Array(100_000);

/** Lets everything run that waits for no other: each chunk that is taken takes a turn of the loop, or a few. */
async function settle() {
  for (let turn = 0; turn < CHUNKS * 10; turn += 1) await nextTurn();
}

async function cutHalf() {
  const held = heldRunner();
  const splitting = held.runner.split({ kind: "email", form: "json", body, itemsMax: CHUNKS * CHUNK_ITEMS });
  held.begin();
  const cut = await splitting;
  if (!cut.ok) throw new Error(cut.message);
  const results = held.runner.judge("email", cut, OPTIONS, new AbortController().signal);
  return { ...held, results };
}

describe("a batch that is still being cut", () => {
  test("is judged meanwhile, up to a limit that the pool's queue has room for", async () => {
    const { results, judging, tell } = await cutHalf();
    void results.next();
    tell(0, 3);
    await settle();
    expect(judging.length).toBe(3);
    tell(3, CHUNKS);
    await settle();
    expect(judging.length).toBeGreaterThan(THREADS * 2 + 1);
    expect(judging.length).toBeLessThanOrEqual(waitingTasksMax(THREADS));
  });

  test("is judged no further ahead of its reader than others once it is cut", async () => {
    const { results, judging, tell, end } = await cutHalf();
    const first = results.next();
    tell(0, CHUNKS);
    end();
    await settle();
    let taken = 0;
    for (let at = 0; at < 30; at += 1) {
      while (judging.length <= at) await settle();
      judging[at]?.();
      expect((await (at === 0 ? first : results.next())).done).toBe(false);
      taken += 1;
    }
    await settle();
    expect(judging.length - taken).toBeLessThanOrEqual(THREADS * 2 + 1);
  });

  test("does not lose the time for its look-ups to the cutting", async () => {
    const { results, lookups, tell, pass } = await cutHalf();
    void results.next();
    tell(0, 1);
    await settle();
    pass(10_000);
    tell(1, 2);
    await settle();
    const deadlines = lookups.map(({ deadlineMs }) => deadlineMs);
    expect(deadlines).toEqual([1000 + LOOKUP_TIMEOUT_MS, 11_000 + LOOKUP_TIMEOUT_MS]);
  });

  test("has one deadline for the look-ups that are left once it is cut", async () => {
    const { results, judging, lookups, tell, end, pass } = await cutHalf();
    const first = results.next();
    tell(0, CHUNKS);
    end();
    await settle();
    pass(300);
    for (const judged of judging) judged();
    await first;
    while (lookups.length < CHUNKS) {
      for (const judged of judging) judged();
      await results.next();
    }
    expect(new Set(lookups.map(({ deadlineMs }) => deadlineMs))).toEqual(new Set([1000 + LOOKUP_TIMEOUT_MS]));
  });
});
