import { setImmediate as nextTurn } from "node:timers/promises";
import { readListing } from "../directory/listing-reader.ts";
import { parseObject } from "../platform/json-value.ts";
import type { Evidence } from "../scan/evidence.ts";
import { listedHost, scannedListing } from "../scan/scanned-listing.ts";
import type { Scored } from "../scan/score.ts";
import type { HostListing, ScanStore } from "../store/scan-port.ts";

/** Keeps the listings of the hosts that are scanned. */
export type ScannedHosts = {
  /** Lists the host of a scan, or takes its listing away. */
  readonly scanned: (evidence: Evidence, scored: Scored) => void;
  /**
   * Removes what a former version listed and this one would not, some in each turn of the event loop, and which no scan
   * would take away: what the directory would quarantine, and hosts of which only another port was scanned.
   */
  readonly removeFormer: (now: number, signal: AbortSignal) => Promise<void>;
};

export type ScannedHostsDependencies = {
  readonly store: Pick<ScanStore, "list" | "listingsAfter" | "newest">;
  /** Called where a listing has changed. */
  readonly changed: () => void;
};

/** Each is read in up to 0.1 ms. */
const READ_A_TURN = 20;

/** `judgeUrl` is the server whose judging check the listings link to. */
export function createScannedHosts(
  { store, changed }: ScannedHostsDependencies,
  { judgeUrl, anyPort }: { readonly judgeUrl: string; readonly anyPort: boolean },
): ScannedHosts {
  function isFormer({ host, listing }: HostListing, now: number): boolean {
    const read = readListing(parseObject(listing), now);
    if (!read.ok) return true;
    const isOfOtherPort = read.listing.resources.every(({ url }) => new URL(url).port !== "");
    // A host that was scanned on the usual port may have its resources on another.
    return isOfOtherPort && !anyPort && store.newest(`https://${host}`) === undefined;
  }

  return {
    scanned(evidence, scored) {
      const host = listedHost(evidence, { anyPort });
      if (host === null) return;
      const listing = scannedListing(evidence, scored, judgeUrl);
      if (store.list(host, listing === null ? null : JSON.stringify(listing))) changed();
    },
    async removeFormer(now, signal) {
      for (let last = ""; !signal.aborted; await nextTurn()) {
        const page = store.listingsAfter(last, READ_A_TURN);
        const [end] = page.slice(-1);
        if (end === undefined) return;
        const former = page.filter((one) => isFormer(one, now));
        for (const { host } of former) store.list(host, null);
        if (former.length > 0) changed();
        last = end.host;
      }
    },
  };
}
