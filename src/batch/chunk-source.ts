import type { AddressParser } from "../verification/email/address.ts";
import type { Items } from "./items.ts";
import { type BatchKind, type Chunk, NO_DOMAIN } from "./messages.ts";

/** The chunks of a batch. */
export type ChunkSource = {
  readonly kind: BatchKind;
  /** The approximate number of items in a chunk. */
  readonly chunkItems: number;
  /** Yields the chunks in order as they are made. Throws where the source fails. Must be iterated once. */
  readonly chunks: AsyncIterable<Chunk>;
  /** Resolves with the last chunk; rejects where the source fails. */
  readonly ended: Promise<unknown>;
  /** True once no more chunks will come. */
  readonly hasEnded: () => boolean;
};

/** Makes chunks of ranges of items, which must be consecutive, as it numbers the batch's domains. */
export type ChunkMaker = (
  items: Items,
  range: { readonly start: number; readonly end: number; readonly position: number },
  duplicates: Uint32Array,
) => Chunk;

/** Creates the chunk maker of one batch. Batches may share the parser. */
export function createChunkMaker(kind: BatchKind, parser: AddressParser): ChunkMaker {
  const numbers = new Map<string, number>();
  return (items, { start, end, position }, duplicates) => ({
    position,
    items: items.json(start, end),
    count: end - start,
    duplicates,
    ...(kind === "email"
      ? numberDomains(items, start, end, numbers, parser)
      : { newDomains: "", domainNumbers: null }),
  });
}

/** Numbers the domains of a range of items, continuing after those of earlier ranges. */
function numberDomains(
  items: Items,
  start: number,
  end: number,
  numbers: Map<string, number>,
  parser: AddressParser,
): Pick<Chunk, "newDomains" | "domainNumbers"> {
  const added: string[] = [];
  const domainNumbers = new Uint32Array(end - start);
  for (let at = start; at < end; at++) {
    const domain = parser.mailDomainIn(items.source(at), items.start(at), items.end(at));
    let number = domain === null ? NO_DOMAIN : numbers.get(domain);
    if (domain !== null && number === undefined) {
      number = numbers.size;
      numbers.set(domain, number);
      added.push(domain);
    }
    domainNumbers[at - start] = number ?? NO_DOMAIN;
  }
  return { newDomains: added.join("\n"), domainNumbers };
}
