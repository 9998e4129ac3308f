import { createHash } from "node:crypto";
import type { Clock } from "../../platform/clock.ts";
import { DAY_MS } from "../../platform/days.ts";
import type { Contents } from "../sync/contents.ts";
import type { DraftDependencies } from "../sync/draft-rows.ts";
import { FeedGap, followFeed } from "./change-feed.ts";
import { FormatError, type RowLimits } from "./row-splitter.ts";
import { countOf, type Intake, NO_MEMORY, readBody, type Source, type UpstreamMemory } from "./source.ts";
import { refusalOf, type Upstream } from "./upstream.ts";
import { numberOf, offerOf } from "./upstream-offer.ts";

const FULL_EXPORT_MS = DAY_MS;

/**
 * Creates the source of an upstream with the two feeds of this API, or with the export alone. Follows the change
 * feed, and reads the export on a gap, another epoch, a count that drifts, and once a day.
 */
export function createUpstreamSource(
  name: string,
  dependencies: { readonly upstream: Upstream; readonly clock: Clock; readonly rowLimits: RowLimits },
): Source {
  return {
    name,
    async read(memory, base, draftDependencies) {
      const isDue = memory !== null && !isWithinDay(memory.exportedAt, dependencies.clock.now());
      if (memory !== null && memory.cursor !== null && !isDue) {
        try {
          return await followFeed(dependencies, memory, base, draftDependencies);
        } catch (error) {
          if (!(error instanceof FeedGap)) throw error;
        }
      }
      return takeExport(
        dependencies,
        isDue ? { ...memory, exportEtag: null } : memory,
        base,
        draftDependencies,
      );
    },
  };
}

/** False for a time in the future, too: the clock was wrong then, and may have been so by years. */
function isWithinDay(at: number, now: number): boolean {
  return at <= now && now - at < FULL_EXPORT_MS;
}

async function takeExport(
  { upstream, rowLimits }: { readonly upstream: Upstream; readonly rowLimits: RowLimits },
  memory: UpstreamMemory | null,
  base: Contents,
  dependencies: DraftDependencies,
): Promise<Intake> {
  const etag = memory?.exportEtag ?? null;
  const reply = await upstream.get("/v1/directory/export", {
    Accept: "application/x-ndjson, application/json;q=0.5",
    ...(etag === null ? {} : { "If-None-Match": etag }),
  });
  if (reply.status === 304 && memory !== null && etag !== null) {
    reply.cancel();
    return unchangedExport(memory, reply.headers, base, dependencies.now);
  }
  if (reply.status !== 200) throw refusalOf(reply, "the export", dependencies.now);
  const hash = createHash("sha256");
  const { draft, envelope, rows } = await readBody(reply.body, base, dependencies, rowLimits, (chunk) => {
    hash.update(chunk);
  });
  checkWhole(reply.headers, rows, hash.digest("hex"));
  const offer = offerOf(reply.headers, envelope, dependencies.now);
  const isSameEpoch = offer.epoch === (memory?.epoch ?? null);
  const count = numberOf(reply.headers.get("x-directory-count"));
  return {
    ...offer,
    draft,
    isSameEpoch,
    memory: {
      ...NO_MEMORY,
      epoch: offer.epoch,
      version: offer.version,
      generatedAt: offer.isAge ? null : offer.generatedAt,
      cursor: offer.cursor,
      exportEtag: reply.headers.get("etag"),
      exportedAt: dependencies.now,
      countOffset: count === null ? null : count - countOf(draft),
    },
  };
}

/** Handles an unchanged export: the feed continues at the cursor of the export, whatever became of the former cursor. */
function unchangedExport(memory: UpstreamMemory, headers: Headers, base: Contents, now: number): Intake {
  const offer = offerOf(headers, {}, now);
  const count = numberOf(headers.get("x-directory-count"));
  const moved = offer.cursor !== null && offer.cursor !== memory.cursor;
  return {
    ...offer,
    draft: null,
    isSameEpoch: offer.epoch === memory.epoch,
    memory: {
      ...memory,
      epoch: offer.epoch ?? memory.epoch,
      version: offer.version ?? memory.version,
      cursor: offer.cursor ?? memory.cursor,
      lastSeq: moved ? null : memory.lastSeq,
      feedEtag: moved ? null : memory.feedEtag,
      countOffset: count === null ? null : count - countOf(base),
    },
  };
}

/** Throws FormatError where the rows or their digest differ from the headers. */
function checkWhole(headers: Headers, rows: number, digest: string): void {
  const count = numberOf(headers.get("x-directory-count"));
  if (count !== null && count !== rows) throw new FormatError(`${rows} of ${count} rows have come`);
  const expected = headers.get("x-directory-digest");
  if (expected !== null && expected !== digest)
    throw new FormatError("the digest of the export does not match");
}
