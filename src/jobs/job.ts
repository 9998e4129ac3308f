import type { BatchKind } from "../batch/messages.ts";
import type { JobRecord, ListedJob } from "../store/job-records.ts";
import type { InputForm, InputTable } from "./intake/intake-messages.ts";

/** The encoding of an input that comes in parts, and who named its form: the first of the three that did counts. */
export type JobUpload = {
  /** The form that the call which created the job named. */
  readonly given: InputForm | null;
  /** The form that the parts name, which must agree. */
  readonly said: InputForm | null;
  /** The number of the part, where one alone has named them. */
  readonly saidBy?: number | null;
  /** The charset that the parts name, which must agree. */
  readonly charset?: string;
  /** The number of the part, where one alone has named it. */
  readonly charsetBy?: number | null;
  /** JSON, where that call was sent as JSON without a body: many clients send the type with every call. */
  readonly otherwise: InputForm | null;
  /** The content encoding of the whole input. */
  readonly encoding: UploadEncoding | null;
};

export type UploadEncoding = "gzip" | "zstd" | "deflate";

/** The options of a job, as its caller gave them. */
export type JobOptions = {
  readonly deep: boolean;
  readonly dns: boolean;
  readonly country: string | null;
  /** The type of documents that name none. */
  readonly type: string | null;
  readonly column: string | null;
  readonly delimiter: string | null;
  readonly encoding: string | null;
  readonly whenOutOfUnits: "refuse" | "pause";
  /** Present for a job whose input comes in parts. */
  readonly upload?: JobUpload;
};

/** A job with its stored JSON parsed. */
export type Job = Omit<JobRecord, "kind" | "options" | "inputTable"> & {
  readonly kind: BatchKind;
  readonly options: JobOptions;
  readonly table: InputTable | null;
};

/** Parses the fields that the store keeps as text. */
export function jobOf({ inputTable, ...record }: JobRecord): Job {
  return { ...jobFactsOf(record), table: inputTable === null ? null : JSON.parse(inputTable) };
}

/** Does the same without the table, which is long where an input has many columns. */
export function jobFactsOf({ options, kind, ...record }: ListedJob): Omit<Job, "table"> {
  return { ...record, kind: kindOf(kind), options: JSON.parse(options) };
}

function kindOf(kind: string): BatchKind {
  if (kind === "email" || kind === "identity" || kind === "phone") return kind;
  throw new Error(`the store has a job of the kind ${kind}`);
}
