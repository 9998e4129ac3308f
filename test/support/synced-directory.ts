import { rowBytes } from "../../src/directory/snapshot/snapshot.ts";
import type { SyncOutcome } from "../../src/directory/sync/syncer.ts";
import {
  listings,
  openSyncer,
  startUpstream,
  type TestClock,
  type TestListing,
  type TestUpstream,
  testClock,
} from "./directory.ts";
import { temporaryFolder } from "./process.ts";

/** An upstream with some listings, and the sync side that has taken them. */
export async function syncedPair(count = 100) {
  const upstream = startUpstream(listings(count));
  const folder = temporaryFolder("directory");
  const clock = testClock();
  const syncer = openSyncer({ folder: folder.path, upstream: upstream.url }, { clock });
  await syncer.open();
  const first = await syncer.sync({ acceptTripped: false });
  if (first.kind !== "changed") throw new Error(JSON.stringify(first));
  const held = { outcome: first as SyncOutcome, listings: contentOf(first) };
  return {
    upstream,
    folder,
    clock,
    syncer,
    held,
    async sync(acceptTripped = false): Promise<SyncOutcome> {
      const outcome = await syncer.sync({ acceptTripped });
      if (outcome.kind === "changed") held.listings = contentOf(outcome);
      return outcome;
    },
    [Symbol.dispose]: () => {
      upstream[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}

export function contentOf(outcome: SyncOutcome): Map<string, TestListing> {
  if (outcome.kind !== "changed") throw new Error(`No new snapshot: ${JSON.stringify(outcome)}`);
  const { snapshot } = outcome.published;
  const texts = Array.from({ length: snapshot.count }, (_, row) =>
    new TextDecoder().decode(rowBytes(snapshot, row)),
  );
  return new Map(texts.map((text) => JSON.parse(text) as TestListing).map((record) => [record.host, record]));
}

/** What the state on disk holds, as a process sees it that starts now. */
export async function storedContent(folder: string, upstream: string, clock: TestClock) {
  const { published } = await openSyncer({ folder, upstream }, { clock }).open();
  if (published === null) return null;
  const { snapshot } = published;
  return Array.from({ length: snapshot.count }, (_, row) =>
    new TextDecoder().decode(rowBytes(snapshot, row)),
  );
}

export const exportPath = "/v1/directory/export";
export const paths = (upstream: TestUpstream) => upstream.requests.map((request) => request.split("?")[0]);
export const paid = (record: TestListing, to: string) => ({
  ...record,
  evidence: { ...record.evidence, pay_to: to },
});
