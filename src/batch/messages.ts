import type { ErrorCode } from "../errors.ts";

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
  readonly chunkItems: number;
};

/** A batch in chunks, or the refusal of its body. */
export type SplitOutcome =
  | {
      readonly ok: true;
      readonly count: number;
      /** Items that are not repeats of an earlier one. */
      readonly distinct: number;
      /** What a JSON body says beside its items; empty for the other forms. */
      readonly options: BatchOptions;
      readonly chunks: readonly Chunk[];
    }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string };

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
  /** The distinct mail domains to know about, one per line; empty where there are none. */
  readonly domains: string;
};

/** A chunk to judge. */
export type JudgeTask = {
  readonly kind: BatchKind;
  readonly items: string;
  readonly repeats: readonly number[];
  /** Facts about the chunk's mail domains; null for items that have none. */
  readonly facts: FactsOnBoard | null;
  /** The default country of phone numbers, as the caller wrote it. */
  readonly country: string | null;
  readonly separator: "," | "\n";
  /** The chunk's text begins with a separator. */
  readonly continues: boolean;
};

/** Facts of domains as JSON in memory that is shared and never changed once it is written. */
export type FactsOnBoard = {
  /** Tells the memory from others: each place of each board has one content for ever. */
  readonly number: number;
  readonly memory: ArrayBufferLike;
  /** Start and end of each domain's facts. */
  readonly places: Uint32Array;
};

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
