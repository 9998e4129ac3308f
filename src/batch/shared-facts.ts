import type { KnownDomain } from "../domains/facts.ts";
import type { Board } from "./messages.ts";

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
