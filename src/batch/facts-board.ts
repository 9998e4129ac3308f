import type { DomainFactsSource, KnownDomain } from "../domains/facts.ts";
import { type Board, NUMBERS_PER_PLACE } from "./messages.ts";
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

const BOARD_BYTES = 8 * 1024 * 1024;

/** A board is only ever added to, and a full one is followed by another. */
export function createFactsBoard(boardBytes = BOARD_BYTES): FactsBoard {
  let nextKey = 1;
  let board: Board = { firstKey: nextKey, memory: new SharedArrayBuffer(boardBytes) };
  let bytes = Buffer.from(board.memory);
  let used = 0;
  let known = new WeakMap<KnownDomain, Place>();

  function begin(bytesMin: number): void {
    board = { firstKey: nextKey, memory: new SharedArrayBuffer(Math.max(boardBytes, bytesMin)) };
    bytes = Buffer.from(board.memory);
    used = 0;
    known = new WeakMap();
  }

  return {
    place(domain) {
      const written = known.get(domain);
      if (written !== undefined) return written;
      const length = Buffer.byteLength(domain.json);
      if (used + length > bytes.byteLength) begin(length);
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
  return (domainCount, options) => {
    const boards: Board[] = [];
    const places = new SharedArrayBuffer(domainCount * NUMBERS_PER_PLACE * Uint32Array.BYTES_PER_ELEMENT);
    const numbers = new Uint32Array(places);
    let taken = 0;
    let before: Promise<unknown> = Promise.resolve();

    function note(number: number, domain: KnownDomain): void {
      const { board, key, start, end } = factsBoard.place(domain);
      if (boards.at(-1) !== board) boards.push(board);
      numbers.set([key, start, end], number * NUMBERS_PER_PLACE);
    }

    return async (domains) => {
      const unknown: { readonly number: number; readonly domain: string }[] = [];
      for (const domain of domains === "" ? [] : domains.split("\n")) {
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
      return { boards: [...boards], places };
    };
  };
}
