import type { BatchKind } from "../batch/messages.ts";
import type { JobRecord } from "../store/job-port.ts";
import type { InputForm, InputTable } from "./intake/intake-messages.ts";

/** What the parts of an input are put together to. */
export type JobUpload = {
  /** The form that was named when the job was created: what parts say of theirs does not count then. */
  readonly given: InputForm | null;
  /** What the parts say. */
  readonly said: InputForm | null;
  /** Where neither says anything. */
  readonly otherwise: InputForm | null;
  /** Of the whole input. */
  readonly encoding: UploadEncoding | null;
};

export type UploadEncoding = "gzip" | "zstd" | "deflate";

/** What the caller of a job asked for. */
export type JobOptions = {
  readonly deep: boolean;
  readonly dns: boolean;
  readonly country: string | null;
  /** Of documents that name none. */
  readonly type: string | null;
  readonly column: string | null;
  readonly delimiter: string | null;
  readonly encoding: string | null;
  readonly whenOutOfUnits: "refuse" | "pause";
  /** Of a job whose input comes in parts. */
  readonly upload?: JobUpload;
};

/** A job as those see it who work on it. */
export type Job = Omit<JobRecord, "kind" | "options" | "inputTable"> & {
  readonly kind: BatchKind;
  readonly options: JobOptions;
  readonly table: InputTable | null;
};

/** Reads what the store keeps as text. */
export function jobOf({ options, inputTable, kind, ...record }: JobRecord): Job {
  return {
    ...record,
    kind: kindOf(kind),
    options: JSON.parse(options),
    table: inputTable === null ? null : JSON.parse(inputTable),
  };
}

function kindOf(kind: string): BatchKind {
  if (kind === "email" || kind === "identity" || kind === "phone") return kind;
  throw new Error(`the store has a job of the kind ${kind}`);
}
