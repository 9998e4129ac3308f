import type { Evidence } from "../scan/evidence.ts";
import { listedHost, scannedListing } from "../scan/scanned-listing.ts";
import type { Scored } from "../scan/score.ts";
import type { ScanStore } from "../store/scan-port.ts";

/** Keeps the listings of the hosts that are scanned. */
export type ScannedHosts = {
  /** Lists the host of a scan, or takes its listing away. */
  readonly scanned: (evidence: Evidence, scored: Scored) => void;
};

export type ScannedHostsDependencies = {
  readonly store: Pick<ScanStore, "list">;
  /** Called where a listing has changed. */
  readonly changed: () => void;
};

/** `judgeUrl` is the server whose judging check the listings link to. */
export function createScannedHosts(
  { store, changed }: ScannedHostsDependencies,
  { judgeUrl, anyPort }: { readonly judgeUrl: string; readonly anyPort: boolean },
): ScannedHosts {
  return {
    scanned(evidence, scored) {
      const host = listedHost(evidence, { anyPort });
      if (host === null) return;
      const listing = scannedListing(evidence, scored, judgeUrl);
      if (store.list(host, listing === null ? null : JSON.stringify(listing))) changed();
    },
  };
}
