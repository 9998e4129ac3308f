import type { ErrorCode } from "../contract/errors.ts";

/** What crosses the thread border: plain data, text and bytes, because those pass quickest and survive whole. */

export type BatchKind = "email" | "identity" | "phone";

/** How the items of a request body are written down. */
export type BodyForm = "json" | "ndjson" | "text";

/** A request body to cut into chunks. */
export type SplitTask = {
  readonly kind: BatchKind;
  readonly form: BodyForm;
  readonly body: Uint8Array;
  readonly itemsMax: number;
  /** Items in a chunk; the larger the batch, the more. */
  readonly chunkItemsMin: number;
  readonly chunkItemsMax: number;
};

/** What is told while a body is cut, in this order: what it is, and its chunks, some at a time. */
export type SplitEvent = { readonly head: BatchHead } | { readonly chunks: readonly Chunk[] };

/** What is known of a batch before it is cut. */
export type BatchHead = {
  readonly count: number;
  readonly chunkCount: number;
  /** What a JSON body says beside its items; empty for the other forms. */
  readonly options: BatchOptions;
};

/** What is known of a batch when it is cut, or the refusal of its body. */
export type SplitOutcome =
  | ({ readonly ok: true } & BatchTotals)
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string };

export type BatchTotals = {
  /** Items that are not repeats of an earlier one. */
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
  /** A JSON array: strings, or for documents `[type or null, value]`. */
  readonly items: string;
  readonly count: number;
  /** Ascending positions of the items that repeat an earlier item of the batch. */
  readonly repeats: readonly number[];
  /**
   * Mail domains that no chunk before has, one per line; empty where there are none. The batch numbers its domains
   * in this order, from 0.
   */
  readonly newDomains: string;
  /** The number of each item's mail domain, or NO_DOMAIN; null for items that have none. */
  readonly domainNumbers: Uint32Array | null;
};

/** In place of a domain's number: the item is refused whatever the DNS says. */
export const NO_DOMAIN = 0xffff_ffff;

/** A chunk to judge. */
export type JudgeTask = {
  readonly kind: BatchKind;
  readonly items: string;
  readonly count: number;
  readonly repeats: readonly number[];
  readonly domainNumbers: Uint32Array | null;
  /** What is known of the batch's domains, as far as this chunk needs it; null for items that have none. */
  readonly facts: FactsOnBoards | null;
  /** The default country of phone numbers, as the caller wrote it. */
  readonly country: string | null;
  readonly separator: "," | "\n";
  /** The chunk's text begins with a separator. */
  readonly continues: boolean;
};

/** Facts of a batch's domains, in memory that the threads share. */
export type FactsOnBoards = {
  /** Those that the chunk needs, in the order of their keys. */
  readonly boards: readonly Board[];
  /**
   * For each domain by its number: the key of its facts, and where they start and end, each of 64 bits, as a busy
   * server's keys pass 32. A key of 0: not known.
   */
  readonly places: SharedArrayBuffer;
};

/** Facts as JSON, never changed once they are written. Each key stands for one text for ever. */
export type Board = {
  /** Facts with this key and higher ones stand here, up to the first key of the board that was begun next. */
  readonly firstKey: number;
  readonly memory: SharedArrayBuffer;
};

/** Numbers to a place in `FactsOnBoards.places`. */
export const NUMBERS_PER_PLACE = 3;
export const PLACE_BYTES = NUMBERS_PER_PLACE * Float64Array.BYTES_PER_ELEMENT;

/** A judged chunk. */
export type JudgeOutcome = {
  /** The results as JSON text in UTF-8, joined by the separator. */
  readonly bytes: Uint8Array;
  /** How many results have which status. */
  readonly counts: Counts;
  /** Results to pay for: neither repeats nor our own failures. */
  readonly chargeable: number;
};

export type Counts = { readonly [status: string]: number };
