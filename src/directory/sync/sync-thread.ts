import { createPublishedSnapshots } from "../snapshot/published-snapshots.ts";
import type { SyncReply, SyncRequest } from "./sync-messages.ts";
import type { Opened, Published, Syncer, SyncOutcome, SyncSettings } from "./syncer.ts";

/** The thread ended before it answered. */
class SyncThreadError extends Error {
  override readonly name = "SyncThreadError";
}

type Waiting = { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void };
type Call = Extract<SyncRequest, { id: number }>;
type CallWithoutId = Call extends infer Each ? (Each extends Call ? Omit<Each, "id"> : never) : never;

/**
 * Runs the sync side in a thread of its own. Where the thread ends unexpectedly, pending calls fail with
 * SyncThreadError; the next call starts another thread, which continues from the stored state.
 */
export function createSyncThread(dependencies: {
  /** The URL of the worker file, as `new Worker` takes it. */
  readonly workerFile: string;
  readonly settings: SyncSettings;
}): Syncer {
  const waiting = new Map<number, Waiting>();
  const snapshots = createPublishedSnapshots();
  let worker: Worker | null = null;
  let calls = 0;
  let isClosed = false;
  let dropOldest = (): void => {};

  const lose = (lost: Worker, message: string): void => {
    if (worker !== lost) return;
    worker = null;
    lost.terminate();
    snapshots.forgetThread();
    for (const { reject } of waiting.values()) reject(new SyncThreadError(message));
    waiting.clear();
  };
  const start = (): Worker => {
    const started = new Worker(dependencies.workerFile, { type: "module", smol: true });
    started.addEventListener("message", ({ data }: MessageEvent<SyncReply>) => {
      // Late messages of a lost thread number other segments than those of the next one.
      if (worker !== started) return;
      if ("retire" in data) {
        dropOldest();
        snapshots.retire(data.retire);
        started.postMessage({ call: "retired" } satisfies SyncRequest);
        return;
      }
      const caller = waiting.get(data.id);
      waiting.delete(data.id);
      if (data.ok) {
        const published = publishedIn(data.value);
        if (published !== null) snapshots.add(published.snapshot);
        caller?.resolve(data.value);
      } else caller?.reject(new Error(data.message));
    });
    started.addEventListener("error", (event) => lose(started, `the sync thread failed: ${event.message}`));
    started.addEventListener("close", () => lose(started, "the sync thread ended"));
    started.postMessage({ call: "start", settings: dependencies.settings } satisfies SyncRequest);
    return started;
  };
  const ask = <T>(request: CallWithoutId): Promise<T> => {
    if (isClosed) return Promise.reject(new SyncThreadError("the sync thread is closed"));
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    calls += 1;
    waiting.set(calls, { resolve: resolve as Waiting["resolve"], reject });
    worker ??= start();
    worker.postMessage({ ...request, id: calls });
    return promise;
  };
  return {
    open: () => ask<Opened>({ call: "open" }),
    sync: (options) => ask<SyncOutcome>({ call: "sync", ...options }),
    follow: () => ask<SyncOutcome>({ call: "follow" }),
    beforeSwap(listener) {
      dropOldest = listener;
    },
    gzip: (version, form) => ask<Uint8Array<ArrayBuffer> | null>({ call: "gzip", version, form }),
    /** Terminates the thread at once: uncommitted work is done again after the next start. */
    async [Symbol.asyncDispose]() {
      isClosed = true;
      if (worker !== null) lose(worker, "the sync thread is closed");
    },
  };
}

/** Returns the published state in a reply of the thread, or null. */
function publishedIn(value: unknown): Published | null {
  const answer = value as Partial<Opened> | null;
  return answer?.published ?? null;
}
