import type { Share } from "../../batch/fair-queue.ts";
import type { JobPool } from "../thread-tasks.ts";
import { type OpenTask, type PackedResults, packedResults } from "./chunk-work.ts";
import { copied, type VerifiedRows } from "./claimed-rows.ts";

/** Returns the results of a chunk as they are stored, those of a second round in their places among the earlier ones. */
export async function packRows(
  pool: JobPool,
  { rows, verified }: Pick<VerifiedRows, "rows" | "verified">,
  earlier: OpenTask["uncheckedIn"],
  options: { readonly share: Share; readonly signal: AbortSignal },
): Promise<PackedResults> {
  const { bytes, plain, counts, failures } = verified;
  if (plain !== undefined && failures === 0 && earlier === null) return packedResults(verified, plain);
  const into = earlier === null ? null : { bodies: earlier, rows };
  const results = { bytes: copied(bytes), isCompressed: plain !== undefined, counts, into };
  return pool.runTwice("packJobResults", results, options);
}
