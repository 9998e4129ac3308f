import { setImmediate as nextTurn } from "node:timers/promises";
import type { DomainFactsSource, KnownDomain } from "../domains/facts.ts";
import {
  type Board,
  type Chunk,
  type FactsOnBoards,
  NO_DOMAIN,
  NUMBERS_PER_PLACE,
  PLACE_BYTES,
} from "./messages.ts";
import type { FactsBoard } from "./shared-facts.ts";

/**
 * Begins to find the facts of a batch's mail domains. What it returns takes the chunks in turn, and answers when the
 * domains of a chunk and of all before it are found.
 */
export type GatherFacts = (options: {
  readonly deep: boolean;
  readonly dns: boolean;
  /** On the monotonic clock; asked for each look-up when it begins. */
  readonly deadlineMs: () => number;
  /** Aborted, it ends the look-ups: chunks that still wait for some fail. */
  readonly signal: AbortSignal;
}) => (chunk: ChunkDomains) => Promise<FactsOnBoards>;

/** The mail domains of a chunk that has some. */
type ChunkDomains = Pick<Chunk, "newDomains"> & { readonly domainNumbers: Uint32Array };

/** Looks up at most `lookupsMax` domains of a batch at a time, in their order. */
export function createGatherFacts(
  source: DomainFactsSource,
  factsBoard: FactsBoard,
  lookupsMax: number,
): GatherFacts {
  return ({ deadlineMs, ...options }) => {
    const places = createPlaces(factsBoard);
    const queue = createLookupQueue(lookupsMax, options.signal, (domain) =>
      source.findDomain(domain, { ...options, deadlineMs: deadlineMs() }),
    );
    let numbered = 0;
    let before: Promise<unknown> = Promise.resolve();
    return async ({ newDomains, domainNumbers }) => {
      const domains = newDomains === "" ? [] : newDomains.split("\n");
      places.makeRoom(numbered + domains.length);
      const lookups: Promise<void>[] = [];
      for (const domain of domains) {
        const number = numbered++;
        const known = source.knownDomain(domain, options);
        if (known === undefined) lookups.push(queue.find(domain, (found) => places.note(number, found)));
        else places.note(number, known);
      }
      before = Promise.all([before, ...lookups]);
      await before;
      return places.neededFor(domainNumbers);
    };
  };
}

/** Room for the places of a batch's domains at first. */
const DOMAINS_FIRST = 256;

/** Where the facts of a batch's domains stand, by the numbers of the domains. */
function createPlaces(factsBoard: FactsBoard) {
  const boards: Board[] = [];
  let boardOf = new Uint32Array(0);
  let memory = new SharedArrayBuffer(0);
  let numbers = new Float64Array(memory);

  return {
    /** Makes room for so many domains. Threads keep the memory that they were handed: all they need stands there. */
    makeRoom(domainCount: number): void {
      if (domainCount <= boardOf.length) return;
      const capacity = Math.max(DOMAINS_FIRST, boardOf.length * 2, domainCount);
      memory = new SharedArrayBuffer(capacity * PLACE_BYTES);
      const [smaller, smallerBoardOf] = [numbers, boardOf];
      numbers = new Float64Array(memory);
      numbers.set(smaller);
      boardOf = new Uint32Array(capacity);
      boardOf.set(smallerBoardOf);
    },
    note(number: number, domain: KnownDomain): void {
      const { board, key, start, end } = factsBoard.place(domain);
      numbers.set([key, start, end], number * NUMBERS_PER_PLACE);
      // A domain met before is on an older board: there are few.
      let at = boards.lastIndexOf(board);
      if (at === -1) at = boards.push(board) - 1;
      boardOf[number] = at;
    },
    /** The boards that these domains need, in the order of their keys. */
    neededFor(domainNumbers: Uint32Array): FactsOnBoards {
      const isNeeded = new Uint8Array(boards.length);
      for (const number of domainNumbers) if (number !== NO_DOMAIN) isNeeded[boardOf[number] ?? 0] = 1;
      const needed = boards.filter((_, at) => isNeeded[at] === 1).sort((a, b) => a.firstKey - b.firstKey);
      return { boards: needed, places: memory };
    },
  };
}

const LOOKUPS_A_TURN = 128;

type Waiting = {
  readonly domain: string;
  readonly found: (domain: KnownDomain) => void;
  readonly failed: (error: unknown) => void;
};

/** Looks domains up first come, first served, `lookupsMax` at a time. Bounded by the batch that asks. */
function createLookupQueue(
  lookupsMax: number,
  signal: AbortSignal,
  findDomain: (domain: string) => Promise<KnownDomain>,
) {
  const waiting: Waiting[] = [];
  let next = 0;
  let running = 0;
  let pause: Promise<void> | null = null;

  /** Where nothing is asked of the DNS, nothing else lets other calls in between. */
  async function pauseForOthers(): Promise<void> {
    await nextTurn();
    pause = null;
  }

  async function lookUpInTurn(): Promise<void> {
    running += 1;
    for (let one = waiting[next]; one !== undefined; one = waiting[next]) {
      next += 1;
      try {
        signal.throwIfAborted();
        one.found(await findDomain(one.domain));
      } catch (error) {
        one.failed(error);
      }
      if (next % LOOKUPS_A_TURN === 0) pause ??= pauseForOthers();
      if (pause !== null) await pause;
    }
    running -= 1;
    waiting.length = 0;
    next = 0;
  }

  return {
    /** Resolves once the domain is found and `note` has heard of it. */
    find: (domain: string, note: (found: KnownDomain) => void) =>
      new Promise<void>((resolve, reject) => {
        const found = (known: KnownDomain) => {
          note(known);
          resolve();
        };
        waiting.push({ domain, found, failed: reject });
        if (running < lookupsMax) void lookUpInTurn();
      }),
  };
}
