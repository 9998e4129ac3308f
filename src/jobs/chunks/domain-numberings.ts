import { type ChunkMaker, createChunkMaker } from "../../batch/chunk-source.ts";
import type { Item } from "../../batch/items.ts";
import { listedItems } from "../../batch/items.ts";
import type { BatchKind, Chunk } from "../../batch/messages.ts";
import type { AddressParser } from "../../verification/email/address.ts";

/** The position of a chunk's new domains in a numbering. */
export type NumberingPlace = {
  /** The numbering's, unique in the process. */
  readonly id: string;
  readonly domainsBefore: number;
};

export type NumberedChunk = { readonly chunk: Chunk; readonly place: NumberingPlace };

/** Makes chunks of a job in a thread. */
export type DomainNumberings = {
  /**
   * Makes a chunk whose domains continue the numbering of this name: a domain that an earlier chunk had keeps its number
   * and is not sent again. For items without domains the numbering stays empty.
   */
  readonly make: (
    name: string,
    kind: BatchKind,
    items: readonly Item[],
    duplicates: Uint32Array,
  ) => NumberedChunk;
};

type Numbering = { readonly id: string; readonly maker: ChunkMaker; domains: number };

/** Numberings that a thread remembers; a job has one at a time. */
const NUMBERINGS_MAX = 8;
/** Domains of a numbering. Each costs the thread some 100 bytes, and each chunk 24. */
const DOMAINS_MAX = 16_384;

/** Creates the numberings of a thread. `thread` differs from that of every other thread of the process. */
export function createDomainNumberings(parser: AddressParser, thread: number): DomainNumberings {
  const numberings = new Map<string, Numbering>();
  let begun = 0;

  function begin(kind: BatchKind): Numbering {
    begun += 1;
    return { id: `${thread}.${begun}`, maker: createChunkMaker(kind, parser), domains: 0 };
  }

  return {
    make(name, kind, items, duplicates) {
      const numbering = numberings.get(name) ?? begin(kind);
      // A chunk that throws has numbered domains which were never sent, so that numbering is dropped.
      numberings.delete(name);
      const listed = listedItems(items);
      const chunk = numbering.maker(listed, { start: 0, end: items.length, position: 0 }, duplicates);
      const place = { id: numbering.id, domainsBefore: numbering.domains };
      numbering.domains += chunk.newDomains === "" ? 0 : chunk.newDomains.split("\n").length;
      if (numbering.domains <= DOMAINS_MAX) numberings.set(name, numbering);
      const [oldest] = numberings.keys();
      if (numberings.size > NUMBERINGS_MAX && oldest !== undefined) numberings.delete(oldest);
      return { chunk, place };
    },
  };
}
