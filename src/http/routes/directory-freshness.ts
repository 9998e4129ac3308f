import type { View } from "../../directory/directory-health.ts";

const DIGEST_START_LENGTH = 8;

/** The headers that every reply of the directory carries beside its tag. */
export function freshnessHeaders(view: View) {
  return { Age: `${view.ageSeconds}`, "Cache-Control": "no-cache" };
}

/** Enough of the digest to distinguish two snapshots of one version. */
export function digestStart(view: View): string {
  return view.snapshot.digest.slice(0, DIGEST_START_LENGTH);
}
