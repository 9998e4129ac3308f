import type { DomainFactsSource, KnownDomain } from "../domains/facts.ts";
import type { FactsOnBoard } from "./messages.ts";
import type { GatherFacts } from "./runner.ts";

/**
 * Memory that the threads share, to which the facts of a domain are written once: a chunk then only says where
 * they stand, and a thread reads each place once.
 */
export type FactsBoard = {
  readonly place: (domains: readonly KnownDomain[]) => FactsOnBoard;
};

type Place = { readonly start: number; readonly end: number };

const BOARD_BYTES = 8 * 1024 * 1024;

/** A board is only ever added to, and a full one is followed by another with a number of its own. */
export function createFactsBoard(boardBytes = BOARD_BYTES): FactsBoard {
  let number = 0;
  let board = Buffer.from(new SharedArrayBuffer(boardBytes));
  let used = 0;
  let known = new WeakMap<KnownDomain, Place>();

  function begin(bytesMin: number): void {
    number += 1;
    board = Buffer.from(new SharedArrayBuffer(Math.max(boardBytes, bytesMin)));
    used = 0;
    known = new WeakMap();
  }

  /** Where the facts stand, or null where the board has no room left for them. */
  function placeOf(domain: KnownDomain): Place | null {
    const written = known.get(domain);
    if (written !== undefined) return written;
    if (used + Buffer.byteLength(domain.json) > board.byteLength) return null;
    const place = { start: used, end: used + board.write(domain.json, used) };
    used = place.end;
    known.set(domain, place);
    return place;
  }

  function placesOf(domains: readonly KnownDomain[]): Uint32Array | null {
    const places = new Uint32Array(domains.length * 2);
    let at = 0;
    for (const domain of domains) {
      const place = placeOf(domain);
      if (place === null) return null;
      places[at] = place.start;
      places[at + 1] = place.end;
      at += 2;
    }
    return places;
  }

  return {
    place(domains) {
      let places = placesOf(domains);
      if (places === null) {
        begin(domains.reduce((bytes, { json }) => bytes + Buffer.byteLength(json), 0));
        places = placesOf(domains);
      }
      if (places === null) throw new Error("A new board is too small for the facts it was made for");
      return { number, memory: board.buffer, places };
    },
  };
}

/** Gathers the facts of a chunk's domains, looking up at most `lookupsMax` of them at a time. */
export function createGatherFacts(
  source: DomainFactsSource,
  board: FactsBoard,
  lookupsMax: number,
): GatherFacts {
  return async (domains, options) => {
    const found: KnownDomain[] = [];
    const unknown: string[] = [];
    for (const domain of domains.split("\n")) {
      const known = source.knownDomain(domain, options);
      if (known === undefined) unknown.push(domain);
      else found.push(known);
    }
    const lookUpInTurn = async () => {
      for (let domain = unknown.pop(); domain !== undefined; domain = unknown.pop()) {
        found.push(await source.findDomain(domain, options));
      }
    };
    await Promise.all(Array.from({ length: Math.min(lookupsMax, unknown.length) }, lookUpInTurn));
    return board.place(found);
  };
}
