import { setImmediate as nextTurn } from "node:timers/promises";
import type { DomainFactsSource } from "../domains/facts.ts";
import type { KnownDomain } from "../domains/known-domains.ts";
import type { Clock } from "../platform/clock.ts";
import {
  type Chunk,
  NO_DOMAIN,
  NUMBERS_PER_OFFSET,
  OFFSET_BYTES,
  type SharedBuffer,
  type SharedFacts,
} from "./messages.ts";
import type { FactsBuffer } from "./shared-facts.ts";

/**
 * Starts the look-ups of a batch's mail domains. The returned function takes the chunks in order, and resolves when the
 * domains of a chunk and of all before it are found.
 */
export type GatherFacts = (options: {
  readonly deep: boolean;
  readonly dns: boolean;
  /** On the monotonic clock; called when a look-up starts. */
  readonly deadlineMs: () => number;
  /** Whose share of the look-ups it takes. */
  readonly tenant: string;
  /** Ends the look-ups when aborted; chunks that wait for some then fail. */
  readonly signal: AbortSignal;
  /** Called with each domain whose look-up failed, and when its failure expires, on the monotonic clock. */
  readonly onFailure?: (expiresAtMs: number) => void;
}) => (chunk: ChunkDomains) => Promise<SharedFacts>;

/** The mail domains of a chunk of addresses. */
export type ChunkDomains = Pick<Chunk, "newDomains"> & {
  readonly domainNumbers: Uint32Array;
  /** The deadline of this chunk's look-ups, instead of the batch's. */
  readonly deadlineMs?: number;
};

/** Looks up at most `lookupsMax` domains of a batch at a time, in their order. */
export function createGatherFacts(
  source: DomainFactsSource,
  factsBuffer: FactsBuffer,
  lookupsMax: number,
  clock: Clock,
): GatherFacts {
  return ({ deadlineMs, onFailure, ...options }) => {
    const offsets = createOffsets(factsBuffer);
    const queue = createLookupQueue(lookupsMax, options.signal, (domain, ownDeadlineMs) =>
      source.findDomain(domain, { ...options, deadlineMs: ownDeadlineMs ?? deadlineMs() }),
    );
    const put = (number: number, found: KnownDomain) => {
      offsets.put(number, found);
      if (found.isFailure) onFailure?.(found.expiresAtMs);
    };
    let numbered = 0;
    let before: Promise<unknown> = Promise.resolve();
    return async ({ newDomains, domainNumbers, deadlineMs: ownDeadlineMs }) => {
      const domains = newDomains === "" ? [] : newDomains.split("\n");
      offsets.makeRoom(numbered + domains.length);
      const lookups: Promise<void>[] = [];
      const nowMs = clock.monotonic();
      for (const domain of domains) {
        const number = numbered++;
        const known = source.knownDomain(domain, options, nowMs);
        if (known !== undefined) put(number, known);
        else lookups.push(queue.find({ domain, ownDeadlineMs, onFound: (found) => put(number, found) }));
      }
      before = Promise.all([before, ...lookups]);
      await before;
      return offsets.neededFor(domainNumbers);
    };
  };
}

/** Initial capacity, in domains. */
const DOMAINS_FIRST = 256;

/** The offsets of the facts of a batch's domains, by the numbers of the domains. */
function createOffsets(factsBuffer: FactsBuffer) {
  const buffers: SharedBuffer[] = [];
  let bufferOf = new Uint32Array(0);
  let memory = new SharedArrayBuffer(0);
  let numbers = new Float64Array(memory);

  return {
    /** Grows to `domainCount` domains. Threads keep the former buffer, which has all that they need. */
    makeRoom(domainCount: number): void {
      if (domainCount <= bufferOf.length) return;
      const capacity = Math.max(DOMAINS_FIRST, bufferOf.length * 2, domainCount);
      memory = new SharedArrayBuffer(capacity * OFFSET_BYTES);
      const [smaller, smallerBufferOf] = [numbers, bufferOf];
      numbers = new Float64Array(memory);
      numbers.set(smaller);
      bufferOf = new Uint32Array(capacity);
      bufferOf.set(smallerBufferOf);
    },
    put(number: number, domain: KnownDomain): void {
      const { buffer, key, start, end } = factsBuffer.put(domain);
      const first = number * NUMBERS_PER_OFFSET;
      numbers[first] = key;
      numbers[first + 1] = start;
      numbers[first + 2] = end;
      // Domains whose facts are on older buffers are few.
      let at = buffers.lastIndexOf(buffer);
      if (at === -1) at = buffers.push(buffer) - 1;
      bufferOf[number] = at;
    },
    /** Returns the buffers that these domains need, in the order of their keys. */
    neededFor(domainNumbers: Uint32Array): SharedFacts {
      const isNeeded = new Uint8Array(buffers.length);
      let others = buffers.length;
      // A chunk of many domains needs all buffers, which shows early: stop then.
      for (let at = 0; at < domainNumbers.length && others > 0; at++) {
        const number = domainNumbers[at] ?? NO_DOMAIN;
        if (number === NO_DOMAIN) continue;
        const buffer = bufferOf[number] ?? 0;
        if (isNeeded[buffer] === 1) continue;
        isNeeded[buffer] = 1;
        others -= 1;
      }
      const needed = buffers.filter((_, at) => isNeeded[at] === 1).sort((a, b) => a.firstKey - b.firstKey);
      return { buffers: needed, offsets: memory };
    },
  };
}

/** A deep one costs up to 0.1 ms before anything is sent. */
const LOOKUPS_A_TURN = 32;

type Wanted = {
  readonly domain: string;
  readonly ownDeadlineMs: number | undefined;
  readonly onFound: (domain: KnownDomain) => void;
};

type Waiting = Wanted & { readonly found: () => void; readonly failed: (error: unknown) => void };

/** Looks domains up first come, first served, `lookupsMax` at a time. Bounded by the batch that asks. */
function createLookupQueue(
  lookupsMax: number,
  signal: AbortSignal,
  findDomain: (domain: string, ownDeadlineMs: number | undefined) => Promise<KnownDomain>,
) {
  const waiting: Waiting[] = [];
  let next = 0;
  let running = 0;
  let pause: Promise<void> | null = null;

  /** Yields to other calls, which nothing else does while all domains are cached. */
  async function pauseForOthers(): Promise<void> {
    await nextTurn();
    pause = null;
  }

  async function lookUpInTurn(): Promise<void> {
    running += 1;
    for (;;) {
      while (pause !== null) await pause;
      const one = waiting[next];
      if (one === undefined) break;
      next += 1;
      if (next % LOOKUPS_A_TURN === 0) pause ??= pauseForOthers();
      try {
        signal.throwIfAborted();
        one.onFound(await findDomain(one.domain, one.ownDeadlineMs));
        one.found();
      } catch (error) {
        one.failed(error);
      }
    }
    running -= 1;
    waiting.length = 0;
    next = 0;
  }

  return {
    /** Resolves once the domain is found and `onFound` has returned. */
    find: (wanted: Wanted) =>
      new Promise<void>((found, failed) => {
        waiting.push({ ...wanted, found, failed });
        if (running < lookupsMax) void lookUpInTurn();
      }),
  };
}
