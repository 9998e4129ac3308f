import type { ExportForm, SyncOptions, SyncSettings } from "./syncer.ts";

/** Messages of the main thread to the sync thread; the settings come first, once. */
export type SyncRequest =
  | { readonly call: "start"; readonly settings: SyncSettings }
  | { readonly call: "open"; readonly id: number }
  | ({ readonly call: "sync"; readonly id: number } & SyncOptions)
  | { readonly call: "follow"; readonly id: number }
  | { readonly call: "gzip"; readonly id: number; readonly version: number; readonly form: ExportForm }
  /** No reader uses the memory of the segments in the last `retire` any more. */
  | { readonly call: "retired" };

/** Errors lose their class between threads, so a failure is a value. */
export type SyncReply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly message: string }
  /** Readers must switch to the files of these segments, and confirm it with `retired`. */
  | { readonly retire: readonly number[] };
