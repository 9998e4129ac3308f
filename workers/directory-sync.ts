import { randomBytes } from "node:crypto";
import { lookup } from "node:dns/promises";
import { setPriority } from "node:os";
import { systemClock } from "../src/clock.ts";
import type { SyncReply, SyncRequest } from "../src/directory/sync-messages.ts";
import { createSyncer } from "../src/directory/sync-parts.ts";
import type { Syncer } from "../src/directory/syncer.ts";

declare const self: Worker;

let syncer: Syncer | null = null;

self.onmessage = async ({ data }: MessageEvent<SyncRequest>) => {
  if (data.call === "start") {
    yieldToRequests();
    syncer = createSyncer(data.settings, {
      fetch: (url, init) => fetch(url, init),
      resolve: async (host) => (await lookup(host, { all: true })).map((entry) => entry.address),
      clock: systemClock,
      newId: () => randomBytes(8).toString("hex"),
      relieve: () => Bun.gc(true),
    });
    return;
  }
  self.postMessage(await answer(data));
  // A sync leaves much behind, and nothing else happens in this thread until the next one.
  if (data.call !== "gzip") setTimeout(() => Bun.gc(true), 0);
};

async function answer(request: Exclude<SyncRequest, { call: "start" }>): Promise<SyncReply> {
  const { id } = request;
  try {
    if (syncer === null) throw new Error("The sync thread was not started.");
    if (request.call === "open") return { id, ok: true, value: await syncer.open() };
    if (request.call === "sync") return { id, ok: true, value: await syncer.sync(request) };
    return { id, ok: true, value: await syncer.gzip(request.version, request.form) };
  } catch (error) {
    return { id, ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

/** A sync can wait, a request cannot. Linux keeps priorities by thread; elsewhere the whole process would be slowed. */
function yieldToRequests(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, 10);
  } catch {
    // Not permitted: then the scheduler decides alone.
  }
}
