import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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

/** Opens the directory of the scanned hosts: the same machinery as any directory, on a file that is written here. */
export async function openScannedDirectory(
  { dataDir }: ScanServiceConfig,
  { clock, log, random, workerFiles }: Platform,
  store: ScanStore,
  stack: AsyncDisposableStack,
): Promise<ScannedDirectory> {
  const file = join(dataDir, "scanned.ndjson");
  const write = () => {
    const text = store
      .listings()
      .map((listing) => `${listing}\n`)
      .join("");
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  write();
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
  let timer: ReturnType<typeof setTimeout> | undefined;
  stack.defer(() => clearTimeout(timer));
  const sync = async () => {
    timer = undefined;
    try {
      write();
      await directory.sync();
    } catch (error) {
      log.error("the directory of scanned hosts failed", errorFacts(error));
    }
  };
  return {
    directory,
    changed: () => {
      timer ??= setTimeout(() => void sync(), SYNC_DELAY_MS);
    },
  };
}
