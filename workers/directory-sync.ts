import { edenGC } from "bun:jsc";
import { randomBytes } from "node:crypto";
import { indexBuffers } from "../src/directory/snapshot/snapshot.ts";
import type { OwnMeasures } from "../src/directory/sync/own-measures.ts";
import { createSyncer } from "../src/directory/sync/sync-dependencies.ts";
import type { SyncReply, SyncRequest } from "../src/directory/sync/sync-messages.ts";
import type { Syncer, SyncSettings } from "../src/directory/sync/syncer.ts";
import { systemAddressLookup } from "../src/net/address-lookup.ts";
import { systemClock } from "../src/platform/clock.ts";
import { type LoadedOnce, loadedOnce } from "../src/platform/loaded-once.ts";
import { yieldThread } from "../src/platform/thread-priority.ts";
import type { DirectoryFilePort } from "../src/store/directory-port.ts";

declare const self: Worker;

type Answer = {
  readonly reply: SyncReply;
  /** Buffers that are transferred with the reply: this thread can no longer read them. */
  readonly transfer: ArrayBuffer[];
};

/** The sync side, once there are settings for it; where it could not be put together, the next call tries again. */
let started: LoadedOnce<Syncer> | null = null;
let retired: () => void = () => {};

self.onmessage = async ({ data }: MessageEvent<SyncRequest>) => {
  if (data.call === "retired") return retired();
  if (data.call === "start") {
    // A sync can wait, a request cannot.
    yieldThread(10);
    started = loadedOnce(() => start(data.settings));
    return;
  }
  const { reply, transfer } = await answer(data);
  self.postMessage(reply, transfer);
  // A sync leaves much behind, and nothing else happens in this thread until the next one.
  setTimeout(data.call === "gzip" ? edenGC : () => Bun.gc(true), 0);
};

async function start(known: SyncSettings): Promise<Syncer> {
  const measures = await measuresOf(known.probesDir ?? null);
  const shared = await sharedOf(known.database ?? null);
  return createSyncer(known, {
    ...(measures === null ? {} : { measures }),
    ...(shared === null ? {} : { shared }),
    lookUp: systemAddressLookup,
    clock: systemClock,
    newId: () => randomBytes(8).toString("hex"),
    collectGarbage: () => Bun.gc(true),
    collectYoungGarbage: edenGC,
    retire: (segmentIds) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      retired = resolve;
      self.postMessage({ retire: segmentIds } satisfies SyncReply);
      return promise;
    },
  });
}

async function answer(request: Extract<SyncRequest, { id: number }>): Promise<Answer> {
  const { id } = request;
  try {
    if (started === null) throw new Error("The sync thread was not started.");
    const syncer = await started.get();
    if (request.call === "gzip") {
      const body = await syncer.gzip(request.version, request.form);
      return { reply: { id, ok: true, value: body }, transfer: body === null ? [] : [body.buffer] };
    }
    const outcome = await (request.call === "sync" ? syncer.sync(request) : syncer[request.call]());
    const published = "published" in outcome ? outcome.published : null;
    // The texts of the listings are shared.
    const transfer = published === null ? [] : indexBuffers(published.snapshot);
    return { reply: { id, ok: true, value: outcome }, transfer };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { reply: { id, ok: false, message }, transfer: [] };
  }
}

/** Loads what reads the prober's evidence, where there is a prober. */
async function measuresOf(probesDir: string | null): Promise<OwnMeasures | null> {
  if (probesDir === null) return null;
  const [{ createPublishedEvidence }, { openProbeReader }] = await Promise.all([
    import("../src/prober/published-evidence.ts"),
    import("../src/store/sqlite/side-databases/probes/read-probes.ts"),
  ]);
  return createPublishedEvidence(() => openProbeReader(probesDir), systemClock);
}

/** Loads what reaches the database, where this is a node of a cluster. */
async function sharedOf(
  database: NonNullable<SyncSettings["database"]> | null,
): Promise<DirectoryFilePort | null> {
  if (database === null) return null;
  const { openDirectoryFiles } = await import("../src/store/postgres/directory/open-directory.ts");
  return openDirectoryFiles({ ...database, clock: systemClock });
}
