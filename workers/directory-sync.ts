import { edenGC } from "bun:jsc";
import { randomBytes } from "node:crypto";
import { setPriority } from "node:os";
import { indexBuffers } from "../src/directory/snapshot/snapshot.ts";
import { createSyncer } from "../src/directory/sync/sync-dependencies.ts";
import type { SyncReply, SyncRequest } from "../src/directory/sync/sync-messages.ts";
import type { Syncer } from "../src/directory/sync/syncer.ts";
import { systemAddressLookup } from "../src/net/address-lookup.ts";
import { systemClock } from "../src/platform/clock.ts";

declare const self: Worker;

type Answer = {
  readonly reply: SyncReply;
  /** Memory that is handed over as it lies, to be this thread's no more. */
  readonly transfer: ArrayBuffer[];
};

let syncer: Syncer | null = null;
let retired: () => void = () => {};

self.onmessage = async ({ data }: MessageEvent<SyncRequest>) => {
  if (data.call === "retired") return retired();
  if (data.call === "start") {
    yieldToRequests();
    syncer = createSyncer(data.settings, {
      lookUp: systemAddressLookup,
      clock: systemClock,
      newId: () => randomBytes(8).toString("hex"),
      relieve: () => Bun.gc(true),
      sweep: edenGC,
      retire: (segmentIds) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        retired = resolve;
        self.postMessage({ retire: segmentIds } satisfies SyncReply);
        return promise;
      },
    });
    return;
  }
  const { reply, transfer } = await answer(data);
  self.postMessage(reply, transfer);
  // A sync leaves much behind, and nothing else happens in this thread until the next one.
  setTimeout(data.call === "gzip" ? edenGC : () => Bun.gc(true), 0);
};

async function answer(request: Extract<SyncRequest, { id: number }>): Promise<Answer> {
  const { id } = request;
  try {
    if (syncer === null) throw new Error("The sync thread was not started.");
    if (request.call === "gzip") {
      const body = await syncer.gzip(request.version, request.form);
      return { reply: { id, ok: true, value: body }, transfer: body === null ? [] : [body.buffer] };
    }
    const outcome = request.call === "open" ? await syncer.open() : await syncer.sync(request);
    const published = "published" in outcome ? outcome.published : null;
    // The texts of the listings are shared.
    const transfer = published === null ? [] : indexBuffers(published.snapshot);
    return { reply: { id, ok: true, value: outcome }, transfer };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { reply: { id, ok: false, message }, transfer: [] };
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
