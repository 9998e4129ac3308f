import { createHash } from "node:crypto";
import type { Clock } from "../../platform/clock.ts";
import { type Contents, createDeltaDraft, type Draft, type DraftDependencies } from "../sync/draft.ts";
import { FormatError, type RowLimits } from "./row-splitter.ts";
import { type Intake, NO_MEMORY, readBody, type Source, type UpstreamMemory } from "./source.ts";
import { retryAfterMs, type Upstream, type UpstreamReply } from "./upstream.ts";
import { UpstreamError } from "./upstream-limits.ts";
import { numberOf, offerOf } from "./upstream-offer.ts";

const FULL_EXPORT_MS = 86_400_000;
const FEED_PAGE_LIMIT = 1000;
const FEED_PAGES_MAX = 200;
/** Past this the export is the shorter way. */
const FEED_BYTES_MAX = 256 * 1024 * 1024;
const FEED_PAGE_BYTES_MAX = 80 * 1024 * 1024;

/** The feed cannot be followed; the export can still be taken. */
class FeedGap extends Error {
  override readonly name = "FeedGap";
}

/**
 * An upstream that speaks the two feeds of this API, or the export alone. The change feed is followed while it
 * is whole; the export is taken on a gap, another epoch, a count that drifts, and once a day.
 */
export function createUpstreamSource(
  name: string,
  dependencies: { readonly upstream: Upstream; readonly clock: Clock; readonly rowLimits: RowLimits },
): Source {
  return {
    name,
    async read(memory, base, draftDependencies) {
      const now = dependencies.clock.now();
      if (memory !== null && memory.cursor !== null && now - memory.exportedAt < FULL_EXPORT_MS) {
        try {
          return await followFeed(dependencies, memory, base, draftDependencies);
        } catch (error) {
          if (!(error instanceof FeedGap)) throw error;
        }
      }
      const isDue = memory !== null && now - memory.exportedAt >= FULL_EXPORT_MS;
      return takeExport(
        dependencies,
        isDue ? { ...memory, exportEtag: null } : memory,
        base,
        draftDependencies,
      );
    },
  };
}

async function followFeed(
  { upstream, rowLimits }: { readonly upstream: Upstream; readonly rowLimits: RowLimits },
  memory: UpstreamMemory,
  base: Contents,
  dependencies: DraftDependencies,
): Promise<Intake> {
  const draft = createDeltaDraft(base, dependencies);
  let { cursor, lastSeq } = memory;
  let changes = 0;
  let bytes = 0;
  for (let pages = 0; pages < FEED_PAGES_MAX; pages++) {
    const etag = pages === 0 ? memory.feedEtag : null;
    const reply = await upstream.get(
      `/v1/changes?limit=${FEED_PAGE_LIMIT}&cursor=${encodeURIComponent(cursor ?? "")}`,
      { Accept: "application/json", ...(etag === null ? {} : { "If-None-Match": etag }) },
    );
    if (reply.status === 304) return finishFeed(memory, reply, null, base, dependencies.now);
    const page = await readPage(reply, memory.epoch, dependencies.now);
    bytes += page.bytes;
    if (bytes > FEED_BYTES_MAX) throw new FeedGap(`more than ${FEED_BYTES_MAX} bytes of changes`);
    for (const change of page.changes) {
      const seq = applyChange(change, lastSeq, draft);
      if (seq !== lastSeq) changes += 1;
      lastSeq = seq;
    }
    if (page.hasMore && page.cursor === cursor) throw new FeedGap("the feed does not move on");
    const feedEtag = page.changes.length === 0 ? reply.headers.get("etag") : null;
    cursor = page.cursor;
    if (page.hasMore) continue;
    const exportEtag = changes === 0 ? memory.exportEtag : null;
    const next = { ...memory, cursor, lastSeq, feedEtag, exportEtag };
    const done = changes === 0 ? null : draft.finish();
    if ((done?.rows.size ?? 0) > rowLimits.rowsMax)
      throw new UpstreamError(`more than ${rowLimits.rowsMax} listings`);
    return finishFeed(next, reply, done, base, dependencies.now);
  }
  throw new FeedGap(`more than ${FEED_PAGES_MAX} pages of changes`);
}

function finishFeed(
  memory: UpstreamMemory,
  reply: UpstreamReply,
  draft: Draft | null,
  base: Contents,
  now: number,
): Intake {
  const offer = offerOf(reply.headers, {}, now);
  if (offer.epoch !== null && offer.epoch !== memory.epoch) throw new FeedGap("another epoch");
  const count = numberOf(reply.headers.get("x-directory-count"));
  const drift = memory.countOffset !== null && count !== null;
  if (drift && count - countOf(draft ?? base) !== memory.countOffset) throw new FeedGap("the count drifts");
  if (reply.status === 304) reply.cancel();
  const version = offer.version ?? memory.version;
  return { ...offer, draft, isSameEpoch: true, memory: { ...memory, version } };
}

type Page = {
  readonly bytes: number;
  readonly changes: readonly unknown[];
  readonly cursor: string;
  readonly hasMore: boolean;
};

async function readPage(reply: UpstreamReply, epoch: string | null, now: number): Promise<Page> {
  if ([400, 404, 410].includes(reply.status)) {
    reply.cancel();
    throw new FeedGap(`the feed answers ${reply.status}`);
  }
  if (reply.status !== 200) throw refusal(reply, "the change feed", now);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of reply.body) {
    bytes += chunk.length;
    if (bytes > FEED_PAGE_BYTES_MAX)
      throw new UpstreamError(`a page of changes passes ${FEED_PAGE_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  const page = parsePage(Buffer.concat(chunks).toString());
  if (epoch !== null && page.epoch !== epoch) throw new FeedGap("another epoch");
  const { changes, next_cursor: cursor, has_more: hasMore } = page;
  if (!Array.isArray(changes) || typeof cursor !== "string" || typeof hasMore !== "boolean") {
    throw new FeedGap("the feed is not as agreed");
  }
  return { bytes, changes, cursor, hasMore };
}

function parsePage(text: string): Readonly<Record<string, unknown>> {
  try {
    const page: unknown = JSON.parse(text);
    if (typeof page === "object" && page !== null) return page as Record<string, unknown>;
  } catch {
    // Falls through: whatever is no object is no page.
  }
  throw new FeedGap("the feed is not JSON");
}

/** Applies one change and gives the number that must come before the next one. A repeated one is left out. */
function applyChange(
  change: unknown,
  lastSeq: number | null,
  draft: ReturnType<typeof createDeltaDraft>,
): number {
  const { seq, op, host, listing } = (change ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof seq !== "number" || !Number.isSafeInteger(seq)) throw new FeedGap("a change without a number");
  if (lastSeq !== null && seq <= lastSeq) return lastSeq;
  if (lastSeq !== null && seq !== lastSeq + 1)
    throw new FeedGap(`changes ${lastSeq + 1} to ${seq - 1} are missing`);
  if (typeof host !== "string") draft.reject(null, "bad_host", change);
  else if (op === "upsert") draft.upsert(host, listing);
  else if (op === "delete") draft.delete(host);
  else draft.reject(host, "unknown_op", change);
  return seq;
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
  if (reply.status !== 200) throw refusal(reply, "the export", dependencies.now);
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

/** Our contents are the export's: the feed goes on from where the export says, whatever became of the cursor. */
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

/** Where the upstream says how many rows there are or what they add up to, that must be what has come. */
function checkWhole(headers: Headers, rows: number, digest: string): void {
  const count = numberOf(headers.get("x-directory-count"));
  if (count !== null && count !== rows) throw new FormatError(`${rows} of ${count} rows have come`);
  const expected = headers.get("x-directory-digest");
  if (expected !== null && expected !== digest)
    throw new FormatError("the digest of the export does not match");
}

/** Hosts as the upstream counts them: those held, and those that are kept out. */
function countOf(contents: Contents): number {
  let count = contents.rows.size;
  for (const key of contents.quarantine.keys()) if (!contents.rows.has(key)) count += 1;
  return count;
}

function refusal(reply: UpstreamReply, what: string, now: number): UpstreamError {
  reply.cancel();
  return new UpstreamError(`${what} answers ${reply.status}`, {
    retryAfterMs: retryAfterMs(reply.headers, now),
  });
}
