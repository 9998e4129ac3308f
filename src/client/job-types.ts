import type { DocumentItem } from "./contract-types.ts";
import type { CallOptions } from "./transport.ts";

/** What a job verifies: rows one by one, or a text in one of the forms that the server reads. */
export type JobInput =
  | { readonly rows: Iterable<JobItem> | AsyncIterable<JobItem> }
  /** The column of the items is found by the server, or named with `column`. */
  | { readonly csv: JobText }
  /** One item a line. */
  | { readonly text: JobText }
  /** One JSON value a line. */
  | { readonly ndjson: JobText };

export type JobItem = string | DocumentItem;

export type JobText =
  | string
  | Uint8Array
  | Blob
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>;

export type CreateJobOptions = CallOptions & {
  /** An input of more bytes is sent in parts of this size (4,194,304; at most 67,108,864). */
  readonly partBytes?: number;
};

export type WatchOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Between two looks where events do not get through (2,000). */
  readonly pollMs?: number;
};

export type ResultsOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Only results with this status, or one of several between commas. */
  readonly status?: string;
  readonly sub_status?: string;
  /** Results of these first rows are left out (0). */
  readonly afterRow?: number;
  /** Returns the results up to the first unfinished row now, instead of waiting for the job's end. */
  readonly partial?: boolean;
};
