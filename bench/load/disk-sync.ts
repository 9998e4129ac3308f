import { closeSync, fdatasync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { median } from "../result.ts";

const SYNCS = 300;
/** What a commit of one group appends, roughly. */
const APPENDED_BYTES = 16_384;

/** Returns the median milliseconds in which the disk of the databases takes an append, as the loop of a process sees it. */
export async function measureSyncMs(): Promise<number> {
  const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "assay-sync-"));
  const file = openSync(join(folder, "log"), "w");
  const bytes = new Uint8Array(APPENDED_BYTES);
  const times: number[] = [];
  try {
    for (let n = 0; n < SYNCS; n += 1) {
      writeSync(file, bytes);
      const startedMs = performance.now();
      await promisify(fdatasync)(file);
      times.push(performance.now() - startedMs);
    }
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true, force: true });
  }
  return median(times);
}
