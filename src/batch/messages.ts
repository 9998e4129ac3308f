import type { ErrorCode } from "../contract/errors.ts";

/** What crosses the thread border: plain data, text and bytes, because those pass quickest and survive whole. */

export type BatchKind = "email" | "identity" | "phone";

/** How the items of a request body are written down. */
export type BodyForm = "json" | "ndjson" | "text";

/** A request body to make chunks of. */
export type ChunkingTask = {
  readonly kind: BatchKind;
  readonly form: BodyForm;
  readonly body: Uint8Array;
  readonly itemsMax: number;
  /** Items in a chunk; the larger the batch, the more. The first chunk has the fewest. */
  readonly chunkItemsMin: number;
  readonly chunkItemsMax: number;
};

/** What is emitted while a body is chunked, in this order: what it is, and its chunks, some at a time. */
export type ChunkingEvent = { readonly head: BatchHead } | { readonly chunks: readonly Chunk[] };

/** What is known of a batch before its chunks are there. */
export type BatchHead = {
  readonly count: number;
  readonly chunkCount: number;
  /** What a JSON body says beside its items; empty for the other forms. */
  readonly options: BatchOptions;
};

/** What is known of a batch when all its chunks are there, or the refusal of its body. */
export type ChunkingOutcome =
  | ({ readonly ok: true } & BatchTotals)
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string };

export type BatchTotals = {
  /** Items that are not duplicates of an earlier one. */
  readonly distinct: number;
};

export type BatchOptions = {
  readonly deep?: boolean;
  readonly dns?: boolean;
  readonly country?: string;
};

/** A run of items in the order of the request. */
export type Chunk = {
  /** Of its first item in the batch. */
  readonly position: number;
  /** A JSON array: strings, or documents, each as `[type or null, value]` or as an object of its type and its value. */
  readonly items: string;
  readonly count: number;
  /** Ascending positions of the items that duplicate an earlier item of the batch. */
  readonly duplicates: Uint32Array;
  /**
   * Mail domains that no chunk before has, one per line; empty without any. The batch numbers its domains
   * in this order, from 0.
   */
  readonly newDomains: string;
  /** The number of each item's mail domain, or NO_DOMAIN; null for items that have none. */
  readonly domainNumbers: Uint32Array | null;
};

/** In place of a domain's number: the item is refused whatever the DNS says. */
export const NO_DOMAIN = 0xffff_ffff;

/** A chunk to verify. */
export type VerifyTask = {
  readonly kind: BatchKind;
  readonly items: string;
  readonly count: number;
  readonly duplicates: Uint32Array;
  readonly domainNumbers: Uint32Array | null;
  /** What is known of the batch's domains, as far as this chunk needs it; null for items that have none. */
  readonly facts: SharedFacts | null;
  /** The default country of phone numbers, as the caller wrote it. */
  readonly country: string | null;
  readonly separator: "," | "\n";
  /** The chunk's text begins with a separator. */
  readonly continues: boolean;
  /** What the bytes are to be compressed with; null for text as it is. */
  readonly encoding?: ChunkEncoding | null;
};

/** Facts of a batch's domains, in memory that the threads share. */
export type SharedFacts = {
  /** Those that the chunk needs, in the order of their keys. */
  readonly buffers: readonly SharedBuffer[];
  /**
   * For each domain by its number: the key of its facts, and where they start and end, each of 64 bits, as a busy
   * server's keys pass 32. A key of 0: not known.
   */
  readonly offsets: SharedArrayBuffer;
};

/** Facts as JSON, never changed once they are written. A key is never used for another text. */
export type SharedBuffer = {
  /** It holds the facts with this key and higher ones, up to the first key of the buffer behind it. */
  readonly firstKey: number;
  readonly memory: SharedArrayBuffer;
};

/** Numbers to a domain in `SharedFacts.offsets`. */
export const NUMBERS_PER_OFFSET = 3;
export const OFFSET_BYTES = NUMBERS_PER_OFFSET * Float64Array.BYTES_PER_ELEMENT;

/** What the bytes of a streamed reply are compressed with. */
export type ChunkEncoding = "gzip" | "zstd";

/** What a gzip trailer says of the text before it was compressed. */
export type PlainText = { readonly crc32: number; readonly byteLength: number };

/** A verified chunk. */
export type VerifiedChunk = {
  /** The results as JSON text in UTF-8, joined by the separator; compressed where `plain` is there. */
  readonly bytes: Uint8Array;
  readonly plain?: PlainText;
  /** How many results have which status. */
  readonly counts: Counts;
  /** Results to pay for: neither duplicates nor our own failures. */
  readonly chargeable: number;
  /** Results of our own failures, those of duplicates included. */
  readonly failures: number;
};

export type Counts = { readonly [status: string]: number };
