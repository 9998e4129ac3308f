import { OutgoingError } from "../../net/failure.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Contents, Draft } from "../sync/contents.ts";
import { createDeltaDraft } from "../sync/draft.ts";
import type { DraftDependencies } from "../sync/draft-rows.ts";
import type { ListKeys } from "./json-nesting.ts";
import { createRowSplitter, FormatError, type RowLimits } from "./row-splitter.ts";
import { countOf, type Intake, splitBody, type UpstreamMemory } from "./source.ts";
import { refusalOf, type Upstream, type UpstreamReply } from "./upstream.ts";
import { UpstreamError } from "./upstream-limits.ts";
import { numberOf, offerOf } from "./upstream-offer.ts";

const FEED_PAGE_LIMIT = 1000;
const FEED_PAGES_MAX = 200;
/** Above this the export is the smaller download. */
const FEED_BYTES_MAX = 256 * 1024 * 1024;
/** Between two pages; the export has a time of its own. */
const FEED_MS_MAX = 120_000;
/** More than a row of an export, so that the host of one that is too long is known. */
const CHANGE_BYTES_MAX = 1024 * 1024;
const CHANGES: ListKeys = { lists: new Set(["changes"]), row: null };

export type FeedDependencies = {
  readonly upstream: Upstream;
  readonly clock: Pick<Clock, "monotonic">;
  readonly rowLimits: RowLimits;
};

/** The feed cannot be followed, so the export is read instead. */
export class FeedGap extends Error {
  override readonly name = "FeedGap";
}

/**
 * Reads the changes since the last sync. Throws a FeedGap where changes are missing, and an UpstreamError where the
 * upstream refuses or exceeds a limit.
 */
export async function followFeed(
  { upstream, clock, rowLimits }: FeedDependencies,
  memory: UpstreamMemory,
  base: Contents,
  dependencies: DraftDependencies,
): Promise<Intake> {
  const draft = createDeltaDraft(base, dependencies);
  const startedMs = clock.monotonic();
  let { cursor, lastSeq } = memory;
  let changes = 0;
  let changesLeft = rowLimits.rowsMax;
  let bytesLeft = FEED_BYTES_MAX;
  for (let pages = 0; pages < FEED_PAGES_MAX; pages++) {
    const etag = pages === 0 ? memory.feedEtag : null;
    const reply = await upstream.get(
      `/v1/changes?limit=${FEED_PAGE_LIMIT}&cursor=${encodeURIComponent(cursor ?? "")}`,
      { Accept: "application/json", ...(etag === null ? {} : { "If-None-Match": etag }) },
    );
    if (reply.status === 304 && etag !== null) {
      reply.cancel();
      return finishFeed(memory, reply, null, base, dependencies.now);
    }
    const limits = { bytesMax: bytesLeft, changesMax: changesLeft };
    const page = await readPage(reply, memory.epoch, limits, dependencies, (text) => {
      const seq = applyChange(text, lastSeq, draft);
      if (seq !== lastSeq) changes += 1;
      lastSeq = seq;
    });
    bytesLeft -= page.bytes;
    changesLeft -= page.changes;
    if (page.hasMore && page.cursor === cursor) throw new FeedGap("the feed does not move on");
    const feedEtag = page.changes === 0 ? reply.headers.get("etag") : null;
    cursor = page.cursor;
    if (page.hasMore && clock.monotonic() - startedMs > FEED_MS_MAX)
      throw new FeedGap(`more than ${FEED_MS_MAX} ms of changes`);
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
  const version = offer.version ?? memory.version;
  return { ...offer, draft, isSameEpoch: true, memory: { ...memory, version } };
}

type Page = {
  readonly bytes: number;
  readonly changes: number;
  readonly cursor: string;
  readonly hasMore: boolean;
};

/** Reads a page change by change, as a whole one in memory takes many times its bytes. */
async function readPage(
  reply: UpstreamReply,
  epoch: string | null,
  { bytesMax, changesMax }: { readonly bytesMax: number; readonly changesMax: number },
  dependencies: DraftDependencies,
  take: (change: string) => void,
): Promise<Page> {
  // 304 where there was no condition says nothing of the changes.
  if ([304, 400, 404, 410].includes(reply.status)) {
    reply.cancel();
    throw new FeedGap(`the feed answers ${reply.status}`);
  }
  if (reply.status !== 200) throw refusalOf(reply, "the change feed", dependencies.now);
  const decoder = new TextDecoder();
  let bytes = 0;
  let changes = 0;
  const takeRow = (row: Uint8Array | null): void => {
    if (row === null) throw new FeedGap(`a change of more than ${CHANGE_BYTES_MAX} bytes`);
    changes += 1;
    take(decoder.decode(row));
  };
  const limits = { rowBytesMax: CHANGE_BYTES_MAX, rowsMax: changesMax };
  const splitter = createRowSplitter(limits, takeRow, CHANGES);
  const countBytes = (chunk: Uint8Array): void => {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new FeedGap(`more than ${FEED_BYTES_MAX} bytes of changes`);
  };
  const page = await splitBody(reply.body, splitter, dependencies, countBytes).catch((error: unknown) => {
    throw error instanceof FormatError || isTooMuch(error) ? new FeedGap(error.message) : error;
  });
  if (epoch !== null && page.epoch !== epoch) throw new FeedGap("another epoch");
  const { next_cursor: cursor, has_more: hasMore } = page;
  if (!Array.isArray(page.changes) || typeof cursor !== "string" || typeof hasMore !== "boolean") {
    throw new FeedGap("the feed is not as agreed");
  }
  return { bytes, changes, cursor, hasMore };
}

/** Whether a page passes the bytes, or the time, that any body may have. The next sync would meet the same page. */
function isTooMuch(error: unknown): error is UpstreamError {
  const cause = error instanceof UpstreamError ? error.cause : null;
  return cause instanceof OutgoingError && ["body_too_large", "total_timeout"].includes(cause.reason);
}

function parseChange(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new FeedGap("a change is not JSON");
  }
}

/** Applies a change, unless it repeats an earlier one. Returns the sequence number that the next one must follow. */
function applyChange(
  text: string,
  lastSeq: number | null,
  draft: ReturnType<typeof createDeltaDraft>,
): number {
  const { seq, op, host, listing } = (parseChange(text) ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof seq !== "number" || !Number.isSafeInteger(seq)) throw new FeedGap("a change without a number");
  if (lastSeq !== null && seq <= lastSeq) return lastSeq;
  if (lastSeq !== null && seq !== lastSeq + 1)
    throw new FeedGap(`changes ${lastSeq + 1} to ${seq - 1} are missing`);
  if (typeof host !== "string") draft.reject(null, "bad_host", text);
  else if (op === "upsert") draft.upsert(host, listing, text);
  else if (op === "delete") draft.delete(host);
  else draft.reject(host, "unknown_op", text);
  return seq;
}
