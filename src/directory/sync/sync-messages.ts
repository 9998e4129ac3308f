import type { ExportForm, SyncOptions, SyncSettings } from "./syncer.ts";

/** What the main thread says to the sync thread; the settings come first, once. */
export type SyncRequest =
  | { readonly call: "start"; readonly settings: SyncSettings }
  | { readonly call: "open"; readonly id: number }
  | ({ readonly call: "sync"; readonly id: number } & SyncOptions)
  | { readonly call: "follow"; readonly id: number }
  | { readonly call: "gzip"; readonly id: number; readonly version: number; readonly form: ExportForm }
  /** No reader looks into the memory any more that was given up last. */
  | { readonly call: "retired" };

/** Errors lose their class between threads, so a failure is a value. */
export type SyncReply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly message: string }
  /** The readers are to go on in the files of these segments, and to say so. */
  | { readonly retire: readonly number[] };
