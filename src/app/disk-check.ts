import { statfs } from "node:fs/promises";
import type { Check } from "../http/routes/health.ts";

export const MEGABYTE = 1_048_576;
/** Below the first a full disk is near, below the second writing is about to fail. */
const DISK_WARN_MB = 512;
const DISK_FAIL_MB = 8;

/** Returns the check of how much room is left on the disk of a data directory. */
export function diskCheck(dataDir: string): Check {
  return {
    fallback: "warn",
    run: async () => {
      const { bavail, bsize } = await statfs(dataDir);
      const freeMb = Math.floor((bavail * bsize) / MEGABYTE);
      if (freeMb >= DISK_WARN_MB) return { status: "pass", observed: freeMb, unit: "MB" };
      const status = freeMb >= DISK_FAIL_MB ? "warn" : "fail";
      return { status, observed: freeMb, unit: "MB", output: "The disk that holds DATA_DIR is nearly full." };
    },
  };
}
