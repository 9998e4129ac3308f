import type { SyncRequest } from "../../src/directory/sync/sync-messages.ts";
import "../../workers/directory-sync.ts";

declare const self: Worker;

// The sync thread, except that it ends when it is asked to compress.

self.addEventListener("message", ({ data }: MessageEvent<SyncRequest>) => {
  if (data.call === "gzip") process.exit(1);
});
