import { availableParallelism } from "node:os";
import { openLookups } from "../src/app/lookups.ts";
import { startChunking } from "../src/batch/chunking.ts";
import { mapConcurrently } from "../src/batch/concurrent-map.ts";
import { INTERACTIVE_WEIGHT } from "../src/batch/fair-queue.ts";
import { createGatherFacts } from "../src/batch/gather-facts.ts";
import type { BodyForm, Chunk } from "../src/batch/messages.ts";
import { createPool, type Pool } from "../src/batch/pool.ts";
import { createFactsBuffer } from "../src/batch/shared-facts.ts";
import { startFixtureServer } from "../src/made-up-dns/server.ts";
import { systemClock } from "../src/platform/clock.ts";
import { type AddressCorpus, addressCorpus, warmingAddresses } from "./input.ts";
import { upToAll } from "./machine.ts";
import { type Figure, median, overRounds } from "./result.ts";
import { shareOfTenth } from "./suite.ts";

const ADDRESSES = 20_000;
const COMPANIES = 2000;
const CHUNKS = [250, 500, 1000, 2000] as const;
const CHUNKS_QUICK = [500, 2000] as const;
/** What a thread hands back: bytes that change hands (as the server does), copied text, or objects. */
const PAYLOADS = ["bytes", "text", "objects"] as const;
const ROUNDS = 15;
const LOOKUPS_MAX = 128;
const TASK_TIMEOUT_MS = 30_000;
const SHARE = { tenant: "bench", weight: INTERACTIVE_WEIGHT };

type Payload = (typeof PAYLOADS)[number];
type Gather = ReturnType<typeof createGatherFacts>;
type Setup = {
  readonly payload: Payload;
  readonly threads: number;
  readonly chunk: number;
  readonly form: BodyForm;
};

/** The ways of a batch through the threads, without HTTP and meter: chunk size × threads × payload and body form. */
export type Pipelines = AsyncDisposable & {
  readonly addresses: number;
  readonly setups: readonly Setup[];
  /** Sends one batch, and returns how many results came. */
  readonly runOnce: (setup: Setup) => Promise<number>;
};

/** Opens the pipelines of a run of this length; each pool starts with the first batch that needs it. */
export async function openPipelines(scale: number): Promise<Pipelines> {
  await using stack = new AsyncDisposableStack();
  const addresses = Math.round(ADDRESSES * shareOfTenth(scale));
  const corpus = addressCorpus({ seed: 7, count: addresses, domains: COMPANIES });
  const gather = await openGather(corpus, stack);
  const bodies = bodiesOf(corpus);
  const pools = new Map<string, Pool>();
  const opened = stack.move();
  const poolOf = ({ payload, threads }: Setup) => {
    const known = pools.get(`${payload} ${threads}`);
    if (known !== undefined) return known;
    const pool = opened.use(openPool(payload, threads));
    pools.set(`${payload} ${threads}`, pool);
    return pool;
  };
  return {
    addresses,
    setups: setupsFor(availableParallelism(), scale < 1 ? CHUNKS_QUICK : CHUNKS),
    runOnce: (setup) => run(setup, poolOf(setup), bodies[setup.form], gather),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Measures each of them in addresses a second. Throws where a result is missing. */
export async function measurePipeline(scale: number): Promise<Figure[]> {
  await using pipelines = await openPipelines(scale);
  const { addresses, setups } = pipelines;
  const times = new Map<Setup, number[]>(setups.map((setup) => [setup, []]));
  // The first round is for warming up.
  for (let round = 0; round <= Math.max(1, Math.round(ROUNDS * scale)); round += 1) {
    for (const setup of setups) {
      const startedMs = performance.now();
      const results = await pipelines.runOnce(setup);
      if (results !== addresses) throw new Error(`${nameOf(setup)}: ${results} results, not ${addresses}`);
      if (round > 0) times.get(setup)?.push(performance.now() - startedMs);
    }
  }
  return setups.map((setup) => figureOf(setup, addresses, times.get(setup) ?? []));
}

/** One factor is varied at a time, except for threads and chunk size, which are tried in all pairs. */
function setupsFor(cores: number, chunks: readonly number[]): Setup[] {
  const threadCounts = upToAll(cores);
  const best = { payload: "bytes", threads: cores, chunk: 1000, form: "json" } as const;
  const pairs = threadCounts.flatMap((threads) => chunks.map((chunk) => ({ ...best, threads, chunk })));
  const payloads = (["text", "objects"] as const).flatMap((payload) =>
    chunks.map((chunk) => ({ ...best, payload, chunk })),
  );
  const forms = (["ndjson", "text"] as const).map((form) => ({ ...best, form }));
  return [...pairs, ...payloads, ...forms];
}

async function openGather(corpus: AddressCorpus, stack: AsyncDisposableStack): Promise<Gather> {
  const dns = await startFixtureServer({ zone: corpus.zone });
  stack.defer(() => dns.close());
  const settings = {
    servers: [dns.address],
    lookupTimeoutMs: 4000,
    requestTimeoutMs: 5000,
    inFlightMax: 200,
    cacheEntriesMax: 100_000,
  };
  const { domainFacts, checkEmail } = openLookups(settings, { clock: systemClock }, stack);
  for (const text of warmingAddresses(corpus.cases)) await checkEmail(text, { deep: false, dns: true });
  return createGatherFacts(domainFacts, createFactsBuffer(), LOOKUPS_MAX, systemClock);
}

function openPool(payload: Payload, threads: number): Pool {
  const file = payload === "bytes" ? "../workers/batch.ts" : `./pipeline/${payload}-worker.ts`;
  return createPool({
    workerFile: new URL(file, import.meta.url).href,
    threads,
    waitingMax: 1000,
    taskTimeoutMs: TASK_TIMEOUT_MS,
    clock: systemClock,
  });
}

function bodiesOf({ cases }: AddressCorpus): { readonly [form in BodyForm]: Uint8Array } {
  const emails = cases.map(({ text }) => text);
  return {
    json: Buffer.from(JSON.stringify({ emails })),
    ndjson: Buffer.from(emails.map((email) => JSON.stringify(email)).join("\n")),
    text: Buffer.from(emails.join("\n")),
  };
}

async function run(setup: Setup, pool: Pool, body: Uint8Array, gather: Gather): Promise<number> {
  const itemsMax = ADDRESSES;
  const task = {
    kind: "email",
    form: setup.form,
    body,
    itemsMax,
    chunksEnough: 1,
    chunkItemsMin: setup.chunk,
    chunkItemsMax: setup.chunk,
  } as const;
  const chunked = await startChunking("email", (onEvent) =>
    pool.runTwice("chunkBody", task, { share: SHARE, onEvent }),
  );
  if (!chunked.ok) throw new Error(chunked.message);
  const endMs = systemClock.monotonic() + TASK_TIMEOUT_MS;
  const { signal } = new AbortController();
  const factsOf = gather({ deep: false, dns: true, deadlineMs: () => endMs, signal, tenant: SHARE.tenant });
  const verify = async ({ items, count, duplicates, newDomains, domainNumbers, position }: Chunk) =>
    await pool.run(
      "verifyChunk",
      {
        kind: "email",
        items,
        count,
        duplicates,
        domainNumbers,
        facts: domainNumbers === null ? null : await factsOf({ newDomains, domainNumbers }),
        country: null,
        separator: ",",
        continues: position > 0,
      },
      { share: SHARE },
    );
  let results = 0;
  for await (const outcome of mapConcurrently(chunked.chunks, setup.threads * 2 + 1, verify)) {
    if (setup.payload === "objects") writtenDown(outcome);
    for (const count of Object.values(outcome.counts)) results += count;
  }
  return results;
}

/** What arrives as objects has yet to become the text of a reply. */
function writtenDown(outcome: object): void {
  if (!("results" in outcome)) throw new Error("The worker sent no objects");
  Buffer.from(JSON.stringify(outcome.results));
}

export function nameOf({ payload, threads, chunk, form }: Setup): string {
  return `pipeline: ${form} in, ${payload} out, ${threads} threads, chunks of ${chunk}`;
}

function figureOf(setup: Setup, addresses: number, times: readonly number[]): Figure {
  const sorted = [...times].sort((a, b) => a - b);
  return {
    name: nameOf(setup),
    group: `pipeline, ${addresses} addresses (p50, and as p99 the slowest: ms a batch)`,
    unit: "addresses/s",
    better: "higher",
    ...overRounds(times.map((ms) => (addresses / ms) * 1000)),
    p50: median(times),
    p99: sorted.at(-1) ?? Number.NaN,
    at: setup,
  };
}
