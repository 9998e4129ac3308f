import { statfs } from "node:fs/promises";
import type { Check } from "../http/routes/health.ts";

export const MEGABYTE = 1_048_576;
/** Below the first a full disk is near, below the second writing is about to fail. */
const DISK_WARN_MB = 512;
const DISK_FAIL_MB = 8;

/**
 * Returns the check of how much room is left on the disk of a data directory. It fails only where that disk `holdsCharges`:
 * elsewhere calls are answered and charged without it.
 */
export function diskCheck(dataDir: string, { holdsCharges }: { readonly holdsCharges: boolean }): Check {
  return {
    fallback: "warn",
    run: async () => {
      const { bavail, bsize } = await statfs(dataDir);
      const freeMb = Math.floor((bavail * bsize) / MEGABYTE);
      if (freeMb >= DISK_WARN_MB) return { status: "pass", observed: freeMb, unit: "MB" };
      const status = holdsCharges && freeMb < DISK_FAIL_MB ? "fail" : "warn";
      return { status, observed: freeMb, unit: "MB", output: "The disk that holds DATA_DIR is nearly full." };
    },
  };
}
