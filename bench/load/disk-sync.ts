import { closeSync, fdatasync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { median } from "../result.ts";

const SYNCS = 300;
/** What a commit of one group appends, roughly. */
const APPENDED_BYTES = 16_384;
const WATCHED_BYTES = 4_096;

/** Often enough to meet each wait that a call could feel, and no load. */
const WATCH_EVERY_MS = 20;
const sync = promisify(fdatasync);

/** What the disk of the databases does beside a measurement, as a small write sees it. */
export type DiskWatch = AsyncDisposable & {
  /** Returns the longest milliseconds that a write waited for the disk between two moments, in Unix milliseconds. */
  readonly longestMs: (fromMs: number, toMs: number) => number;
};

export function watchDisk(): DiskWatch {
  const { file, remove } = openFile();
  const waits: { readonly beganAtMs: number; readonly endedAtMs: number }[] = [];
  let isOver = false;
  const watching = (async () => {
    const bytes = new Uint8Array(WATCHED_BYTES);
    while (!isOver) {
      writeSync(file, bytes, 0, bytes.byteLength, 0);
      const beganAtMs = Date.now();
      await sync(file);
      waits.push({ beganAtMs, endedAtMs: Date.now() });
      await Bun.sleep(WATCH_EVERY_MS);
    }
  })();
  return {
    longestMs: (fromMs, toMs) =>
      waits
        .filter(({ beganAtMs, endedAtMs }) => endedAtMs > fromMs && beganAtMs < toMs)
        .reduce((longest, { beganAtMs, endedAtMs }) => Math.max(longest, endedAtMs - beganAtMs), 0),
    async [Symbol.asyncDispose]() {
      isOver = true;
      await watching.finally(remove);
    },
  };
}

/** Returns the median milliseconds in which the disk of the databases takes an append, as the loop of a process sees it. */
export async function measureSyncMs(): Promise<number> {
  const { file, remove } = openFile();
  const bytes = new Uint8Array(APPENDED_BYTES);
  const times: number[] = [];
  try {
    for (let n = 0; n < SYNCS; n += 1) {
      writeSync(file, bytes);
      const startedMs = performance.now();
      await sync(file);
      times.push(performance.now() - startedMs);
    }
  } finally {
    remove();
  }
  return median(times);
}

function openFile() {
  const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "assay-sync-"));
  const file = openSync(join(folder, "log"), "w");
  const remove = () => {
    closeSync(file);
    rmSync(folder, { recursive: true, force: true });
  };
  return { file, remove };
}
