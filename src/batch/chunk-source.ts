import type { AddressParser } from "../verification/email/address.ts";
import type { Items } from "./items.ts";
import { type BatchKind, type Chunk, NO_DOMAIN } from "./messages.ts";

/** Where the chunks of a batch come from: the body of a call. */
export type ChunkSource = {
  readonly kind: BatchKind;
  /** Items in a chunk, about. */
  readonly chunkItems: number;
  /** In order, each as soon as it is there. Throws where the source fails. To be gone through once. */
  readonly chunks: AsyncIterable<Chunk>;
  /** Resolves when the last chunk is there, rejects where the source fails before that. */
  readonly ended: Promise<unknown>;
  /** True once the last chunk is there, or no more will come. */
  readonly hasEnded: () => boolean;
};

/** Makes chunks of a batch's items; to be asked for one after the other, as it numbers the batch's domains. */
export type ChunkMaker = (
  items: Items,
  range: { readonly start: number; readonly end: number; readonly position: number },
  duplicates: Uint32Array,
) => Chunk;

/** Creates the maker of one batch's chunks. The parser may be shared among batches. */
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

/** Numbers the domains of a range of items, on from those of earlier ranges. */
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
