import { appendFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createDirectory, type Directory } from "../directory/directory.ts";
import { createSyncThread } from "../directory/sync/sync-thread.ts";
import type { ScanStore } from "../store/scan-port.ts";
import { errorFacts } from "./log.ts";
import type { Platform } from "./platform.ts";
import type { ScanServiceConfig } from "./service-settings.ts";

export type ScannedDirectory = {
  readonly directory: Directory;
  /** Brings the store's listings into the directory, soon. */
  readonly changed: () => void;
};

const SYNC_INTERVAL_MS = 60_000;
/** Scans that end together come into the directory together. */
const SYNC_DELAY_MS = 500;
/** Of at most some 14 KB each, five addresses of 2 KB and one that names one of them: read in 1 ms. */
const LISTINGS_A_TURN = 100;

/** Opens the directory of the scanned hosts: the same machinery as any directory, on a file that is written here. */
export async function openScannedDirectory(
  { dataDir }: Pick<ScanServiceConfig, "dataDir">,
  { clock, log, random, workerFiles }: Pick<Platform, "clock" | "log" | "random" | "workerFiles">,
  store: Pick<ScanStore, "listingsAfter">,
  stack: AsyncDisposableStack,
): Promise<ScannedDirectory> {
  const file = join(dataDir, "scanned.ndjson");
  const ended = new AbortController();
  await writeListings(store, file, ended.signal);
  const settings = {
    upstream: null,
    file,
    syncIntervalMs: SYNC_INTERVAL_MS,
    allowPrivateUpstream: false,
    allowRedirects: false,
    acceptNextSnapshot: true,
  };
  const thread = createSyncThread({
    workerFile: workerFiles.directorySync,
    settings: { ...settings, folder: join(dataDir, "directory") },
  });
  const directory = stack.use(
    createDirectory({
      settings,
      // The breakers hold against a broken upstream; this one is ours.
      syncer: { ...thread, sync: () => thread.sync({ acceptTripped: true }) },
      clock,
      random,
      report: ({ level, message, ...facts }) => log[level](`directory: ${message}`, facts),
    }),
  );
  await directory.start();
  let due: ReturnType<typeof setTimeout> | undefined;
  let writing = Promise.resolve();
  const sync = async (): Promise<void> => {
    due = undefined;
    if (ended.signal.aborted) return;
    try {
      writing = writeListings(store, file, ended.signal);
      await writing;
      await directory.sync();
    } catch (error) {
      log.error("the directory of scanned hosts failed", errorFacts(error));
    }
  };
  let last = Promise.resolve();
  const changed = () => {
    // Two would write one file: what changes while one runs comes with the next.
    due ??= setTimeout(() => {
      last = last.then(sync);
    }, SYNC_DELAY_MS);
  };
  stack.defer(async () => {
    clearTimeout(due);
    ended.abort();
    // The store that it reads is closed next.
    await writing.catch(() => undefined);
  });
  return { directory, changed };
}

/**
 * Writes all listings to a file, some in each turn of the event loop: with a hundred thousand hosts it takes seconds. A
 * listing that changes meanwhile is there as it was before or after. The file is the former one where the signal fires.
 */
async function writeListings(
  store: Pick<ScanStore, "listingsAfter">,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  await writeFile(`${file}.new`, "", { mode: 0o600 });
  for (let last = ""; ; ) {
    const page = store.listingsAfter(last, LISTINGS_A_TURN);
    const [end] = page.slice(-1);
    if (end === undefined) break;
    await appendFile(`${file}.new`, page.map(({ listing }) => `${listing}\n`).join(""));
    await nextTurn();
    if (signal.aborted) return;
    last = end.host;
  }
  await rename(`${file}.new`, file);
}
