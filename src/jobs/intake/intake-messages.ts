import type { BatchKind } from "../../batch/messages.ts";
import type { IntakeChunk } from "./chunk-builder.ts";
import type { Refusal } from "./records.ts";

/** What crosses the border to the thread that reads inputs: plain data, and bytes that are transferred. */

export type InputForm = "json" | "text" | "ndjson" | "csv";

/** How an input is to be read. */
export type IntakeOptions = {
  /** Whose turns the input takes. */
  readonly tenant: string;
  readonly form: InputForm;
  readonly kind: BatchKind;
  readonly rowsMax: number;
  /** Bytes of the input when it is decoded. */
  readonly bytesMax: number;
  readonly column: string | null;
  readonly delimiter: string | null;
  readonly encoding: string | null;
  /** Where rows go that memory does not hold. */
  readonly spillPath: string;
  /** Random, so that no caller can choose which rows are compared with which. */
  readonly seeds: readonly [number, number];
};

/** The columns of a CSV input. */
export type InputTable = {
  readonly columns: readonly string[];
  readonly delimiter: string;
  /** Of the column that holds the items, from 0. */
  readonly index: number;
  readonly lineEnd: "\n" | "\r\n";
};

/** An input that was read to its end, or why it is refused. */
export type IntakeOutcome =
  | { readonly ok: false; readonly refusal: Refusal }
  | {
      readonly ok: true;
      readonly rows: number;
      readonly distinct: number;
      /** For each chunk a bit for each of its rows, 1 for a duplicate of an earlier row; null where it has none. */
      readonly duplicates: readonly (Uint8Array | null)[];
      readonly table: InputTable | null;
      /** What a JSON body says beside its items. */
      readonly fields: { readonly [name: string]: unknown };
      readonly firstObject: number | null;
    };

/** To the thread. `piece: null` ends an input. */
export type IntakeRequest =
  | { readonly input: number; readonly begin: IntakeOptions }
  | { readonly input: number; readonly piece: Uint8Array<ArrayBuffer> | null }
  | { readonly input: number; readonly chunkBody: Uint8Array<ArrayBuffer> }
  | { readonly input: number; readonly abort: true };

/**
 * From the thread. `wants` asks for one more piece, `wantsChunk` for the body of a chunk; `isStorage` says that the disk
 * failed, and not the reading.
 */
export type IntakeReply =
  | { readonly input: number; readonly wants: true }
  | { readonly input: number; readonly chunks: readonly IntakeChunk[] }
  | { readonly input: number; readonly wantsChunk: number }
  | { readonly input: number; readonly outcome: IntakeOutcome }
  | { readonly input: number; readonly failed: string; readonly isStorage: boolean };
