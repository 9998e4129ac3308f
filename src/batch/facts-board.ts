import type { DomainFactsSource, KnownDomain } from "../domains/facts.ts";
import { type Board, NO_DOMAIN, NUMBERS_PER_PLACE, PLACE_BYTES } from "./messages.ts";
import type { GatherFacts } from "./runner.ts";

/**
 * Memory that the threads share, to which the facts of a domain are written once: a batch then only says where
 * they stand, and a thread reads each of them once.
 */
export type FactsBoard = {
  readonly place: (domain: KnownDomain) => Place;
};

export type Place = {
  readonly board: Board;
  /** From 1 on, another for each text. */
  readonly key: number;
  readonly start: number;
  readonly end: number;
};

/** A thread that is handed a board counts all of it as memory in use, for each chunk anew: so boards are small. */
const BOARD_BYTES = 128 * 1024;
/** Facts on boards older than these are written again when they are needed. */
const BOARDS_MAX = 128;
/** Room for the places of a batch's domains at first. */
const DOMAINS_FIRST = 256;

/** A board is only ever added to, and a full one is followed by another. */
export function createFactsBoard(boardBytes = BOARD_BYTES, boardsMax = BOARDS_MAX): FactsBoard {
  const known = new WeakMap<KnownDomain, Place>();
  const boards: Board[] = [];
  let nextKey = 1;
  let bytes: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  let used = 0;

  function begin(bytesMin: number): Board {
    const board = { firstKey: nextKey, memory: new SharedArrayBuffer(Math.max(boardBytes, bytesMin)) };
    boards.push(board);
    if (boards.length > boardsMax) boards.shift();
    bytes = Buffer.from(board.memory);
    used = 0;
    return board;
  }

  return {
    place(domain) {
      const written = known.get(domain);
      if (written !== undefined && written.key >= (boards[0]?.firstKey ?? 0)) return written;
      const length = Buffer.byteLength(domain.json);
      const last = used + length > bytes.byteLength ? undefined : boards.at(-1);
      const board = last ?? begin(length);
      const place = { board, key: nextKey, start: used, end: used + bytes.write(domain.json, used) };
      nextKey += 1;
      used = place.end;
      known.set(domain, place);
      return place;
    },
  };
}

/** Gathers the facts of batches' domains, looking up at most `lookupsMax` of a chunk at a time. */
export function createGatherFacts(
  source: DomainFactsSource,
  factsBoard: FactsBoard,
  lookupsMax: number,
): GatherFacts {
  return (options) => {
    const boards: Board[] = [];
    let capacity = 0;
    let boardOf = new Uint32Array(0);
    let places = new SharedArrayBuffer(0);
    let numbers = new Float64Array(places);
    let taken = 0;
    let before: Promise<unknown> = Promise.resolve();

    /** Makes room for so many domains. Threads keep what they were handed: it has all that they need. */
    function makeRoom(domainCount: number): void {
      if (domainCount <= capacity) return;
      capacity = Math.max(DOMAINS_FIRST, capacity * 2, domainCount);
      places = new SharedArrayBuffer(capacity * PLACE_BYTES);
      const wider = new Float64Array(places);
      wider.set(numbers);
      numbers = wider;
      const boardsOf = new Uint32Array(capacity);
      boardsOf.set(boardOf);
      boardOf = boardsOf;
    }

    function note(number: number, domain: KnownDomain): void {
      const { board, key, start, end } = factsBoard.place(domain);
      numbers.set([key, start, end], number * NUMBERS_PER_PLACE);
      // A domain met before is on an older board: there are few.
      let at = boards.lastIndexOf(board);
      if (at === -1) at = boards.push(board) - 1;
      boardOf[number] = at;
    }

    /** The boards that a chunk needs, in the order of their keys. */
    function boardsFor(domainNumbers: Uint32Array): Board[] {
      const isNeeded = new Uint8Array(boards.length);
      for (const number of domainNumbers) if (number !== NO_DOMAIN) isNeeded[boardOf[number] ?? 0] = 1;
      return boards.filter((_, at) => isNeeded[at] === 1).sort((a, b) => a.firstKey - b.firstKey);
    }

    return async ({ newDomains, domainNumbers }) => {
      const unknown: { readonly number: number; readonly domain: string }[] = [];
      const added = newDomains === "" ? [] : newDomains.split("\n");
      makeRoom(taken + added.length);
      for (const domain of added) {
        const number = taken++;
        const known = source.knownDomain(domain, options);
        if (known === undefined) unknown.push({ number, domain });
        else note(number, known);
      }
      const lookUpInTurn = async () => {
        for (let next = unknown.pop(); next !== undefined; next = unknown.pop()) {
          note(next.number, await source.findDomain(next.domain, options));
        }
      };
      const lookups = Array.from({ length: Math.min(lookupsMax, unknown.length) }, lookUpInTurn);
      before = Promise.all([before, ...lookups]);
      await before;
      return { boards: domainNumbers === null ? [] : boardsFor(domainNumbers), places };
    };
  };
}
