import type { ErrorCode } from "../contract/errors.ts";

/** Messages between threads: plain data, text and bytes, which are the fastest to pass and survive unchanged. */

export type BatchKind = "email" | "identity" | "phone";

/** The format of a request body. */
export type BodyForm = "json" | LinesForm;
/** One item a line. */
export type LinesForm = "ndjson" | "text";

/** A request body to be chunked. */
export type ChunkingTask = {
  readonly kind: BatchKind;
  readonly form: BodyForm;
  readonly body: Uint8Array;
  readonly itemsMax: number;
  /** The charset of lines, where one is named that is not UTF-8. */
  readonly charset?: string | null;
  /** More only make the batch dearer. */
  readonly chunksEnough: number;
  /** Items in a chunk, more in larger batches. The first chunk has the fewest. */
  readonly chunkItemsMin: number;
  readonly chunkItemsMax: number;
};

/** Events of chunking, in this order: the head of the batch, then groups of chunks. */
export type ChunkingEvent = { readonly head: BatchHead } | { readonly chunks: readonly Chunk[] };

/** The part of a batch that is known before its chunks. */
export type BatchHead = {
  readonly count: number;
  readonly chunkCount: number;
  /** The fields of a JSON body beside its items; empty for other forms. */
  readonly options: BatchOptions;
};

/** The totals of a batch after its last chunk, or the refusal of its body. */
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

/** A range of items in the order of the request. */
export type Chunk = {
  /** The position of its first item in the batch. */
  readonly position: number;
  /** A JSON array: strings, or documents, each as `[type or null, value]` or as an object of its type and its value. */
  readonly items: string;
  readonly count: number;
  /** Ascending positions of the items that duplicate an earlier item of the batch. */
  readonly duplicates: Uint32Array;
  /**
   * Mail domains that no earlier chunk has, one per line. They number the domains of the batch, in this order from 0.
   */
  readonly newDomains: string;
  /** The number of each item's mail domain, or NO_DOMAIN; null for items that have none. */
  readonly domainNumbers: Uint32Array | null;
};

/** Instead of a domain's number: the item is refused whatever the DNS says. */
export const NO_DOMAIN = 0xffff_ffff;

/** A chunk to verify. */
export type VerifyTask = {
  readonly kind: BatchKind;
  readonly items: string;
  readonly count: number;
  readonly duplicates: Uint32Array;
  readonly domainNumbers: Uint32Array | null;
  /** The facts of the domains that this chunk needs; null for items without domains. */
  readonly facts: SharedFacts | null;
  /** The default country of phone numbers, as the caller wrote it. */
  readonly country: string | null;
  readonly separator: "," | "\n";
  /** The chunk's text begins with a separator. */
  readonly continues: boolean;
  /** The encoding of the bytes; null for plain text. */
  readonly encoding?: ChunkEncoding | null;
  /** What a thread of jobs sees of the gap between chunks, by which it spaces out the items. */
  readonly gap?: SharedArrayBuffer | null;
};

/** Facts of a batch's domains, in shared memory. */
export type SharedFacts = {
  /** The buffers that the chunk needs, in the order of their keys. */
  readonly buffers: readonly SharedBuffer[];
  /**
   * For each domain by its number: the key of its facts, their start and their end, each of 64 bits, as the keys of a busy
   * server exceed 32. A key of 0 means not known.
   */
  readonly offsets: SharedArrayBuffer;
};

/** Facts as JSON, append-only. A key is never used for another text. */
export type SharedBuffer = {
  /** The lowest key of its facts; they reach up to the first key of the next buffer. */
  readonly firstKey: number;
  readonly memory: SharedArrayBuffer;
};

/** Numbers for each domain in `SharedFacts.offsets`. */
export const NUMBERS_PER_OFFSET = 3;
export const OFFSET_BYTES = NUMBERS_PER_OFFSET * Float64Array.BYTES_PER_ELEMENT;

/** The encoding of a streamed reply. */
export type ChunkEncoding = "gzip" | "zstd";

/** The fields of a gzip trailer: of the text before it was compressed. */
export type PlainText = { readonly crc32: number; readonly byteLength: number };

/** A verified chunk. */
export type VerifiedChunk = {
  /** The results as JSON in UTF-8, joined by the separator; compressed if `plain` is present. */
  readonly bytes: Uint8Array;
  readonly plain?: PlainText;
  /** The number of results by status. */
  readonly counts: Counts;
  /** Results to charge: neither duplicates nor our own failures. */
  readonly chargeable: number;
  /** Results of our own failures, those of duplicates included. */
  readonly failures: number;
};

export type Counts = { readonly [status: string]: number };
