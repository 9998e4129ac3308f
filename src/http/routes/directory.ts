import type { Static } from "@sinclair/typebox";
import {
  CHANGES_PAGE_LIMIT,
  type ChangesQuery,
  DIRECTORY_PAGE_LIMIT,
  DirectoryFilters,
  type DirectoryQuery,
} from "../../contract/directory-schemas.ts";
import { ApiError } from "../../contract/errors.ts";
import { createReader, queryReader } from "../../contract/schema.ts";
import {
  exportListings,
  getListing,
  listChanges,
  listListings,
} from "../../contract/specification/directory/directory.ts";
import type { Operation } from "../../contract/specification/operation.ts";
import { isRetained, readChangePage } from "../../directory/change-page.ts";
import { readFeedCursor, readPageCursor, writeFeedCursor, writePageCursor } from "../../directory/cursor.ts";
import type { Directory } from "../../directory/directory.ts";
import type { View } from "../../directory/directory-health.ts";
import { gatherListings } from "../../directory/snapshot/listing-texts.ts";
import { findMatches } from "../../directory/snapshot/matches.ts";
import { queryOf } from "../../directory/snapshot/query.ts";
import { findHost, rowBytes } from "../../directory/snapshot/snapshot.ts";
import { sha256 } from "../../platform/sha256.ts";
import type { Call } from "../call.ts";
import { viewOf, withView } from "../directory-view.ts";
import { isCurrent } from "../negotiation.ts";
import type { Reply } from "../reply.ts";
import type { Route, Routing } from "../routing.ts";
import { answerExport, createExportPlaces } from "./directory-export.ts";
import { digestStart, freshnessHeaders } from "./directory-freshness.ts";

export type DirectoryRouteDependencies = {
  readonly routing: Routing;
  readonly directory: Directory;
  readonly readerStallMs: number;
};

/** The directory's four feeds: bytes that were made once by the sync side, cut and joined, never parsed. */
export function directoryRoutes({
  routing,
  directory,
  readerStallMs,
}: DirectoryRouteDependencies): readonly Route[] {
  const readers = { page: queryReader(listListings), filters: createReader(DirectoryFilters).body };
  const readChanges = queryReader(listChanges);
  const exporting = { directory, readerStallMs, enter: createExportPlaces() };
  const route = (operation: Operation, answer: (call: Call, view: View) => Reply | Promise<Reply>): Route =>
    routing.public(operation, (call) => withView(directory, (view) => answer(call, view)));
  return [
    route(listListings, (call, view) => answerPage(call, view, directory, readers)),
    route(exportListings, (call, view) => answerExport(call, view, exporting)),
    route(getListing, answerListing),
    route(listChanges, (call) => answerChanges(call, directory, readChanges(call.request.url))),
  ];
}

type Readers = {
  readonly page: (url: string) => Static<typeof DirectoryQuery>;
  readonly filters: (value: unknown) => SentFilters;
};

function answerPage(
  call: Call,
  newest: View,
  directory: Directory,
  readers: Readers,
): Reply | Promise<Reply> {
  const { limit = DIRECTORY_PAGE_LIMIT, cursor, ...sent } = readers.page(call.request.url);
  if (cursor === undefined || cursor === "")
    return replyOfPage(call, { view: newest, filters: sent, place: 0 }, limit);
  const walk = resume(cursor, sent, readers);
  const view = directory.viewOf(walk.version, walk.digest);
  if (view !== null) return replyOfPage(call, { ...walk, view }, limit);
  // Another node may have given the cursor out, of a state that is not here yet.
  return directory.catchUp().then(() => {
    const later = directory.viewOf(walk.version, walk.digest);
    if (later !== null) return replyOfPage(call, { ...walk, view: later }, limit);
    throw new ApiError(
      "invalid_request",
      "cursor has expired: its snapshot is gone. Begin again without it.",
    );
  });
}

type Page = { readonly view: View; readonly filters: SentFilters; readonly place: number };

function replyOfPage(call: Call, { view, filters, place }: Page, limit: number): Reply | Promise<Reply> {
  const { snapshot } = view;
  const headers = {
    ...freshnessHeaders(view),
    ETag: `W/"v${snapshot.version}-${digestStart(view)}-${view.quarantined}${view.stale ? "-stale" : ""}"`,
  };
  if (isCurrent(call.request, headers.ETag)) return { status: 304, body: null, headers };
  const { total, rows, nextPlace } = findMatches(snapshot, queryOf(filters), place, limit);
  const nextCursor =
    nextPlace === null
      ? null
      : writePageCursor({
          version: snapshot.version,
          digest: digestStart(view),
          place: nextPlace,
          query: canonical(filters),
        });
  const tail = JSON.stringify({
    total,
    next_cursor: nextCursor,
    snapshot: {
      version: snapshot.version,
      synced_at: new Date(view.syncedAt).toISOString(),
      stale: view.stale,
      count: snapshot.count,
      quarantined: view.quarantined,
    },
  });
  const body = gatherListings(snapshot, rows, '{"listings":[', `],${tail.slice(1)}`);
  if (!(body instanceof Promise)) return { status: 200, body, headers };
  return body.then((read) => ({ status: 200, body: read, headers }));
}

type SentFilters = Static<typeof DirectoryFilters>;

/** A cursor carries its query: the parameters need not be sent again, but must not be others. */
function resume(cursor: string, sent: SentFilters, readers: Readers) {
  const read = readPageCursor(cursor);
  const filters = read === null ? null : filtersOf(read.query, readers);
  if (read === null || filters === null) throw unknownCursor();
  if (Object.keys(sent).length > 0 && canonical(sent) !== canonical(filters)) {
    throw new ApiError("invalid_request", "cursor belongs to a query with other parameters.");
  }
  return { ...read, filters };
}

/** The same text for the same parameters in any order. */
function canonical(filters: SentFilters): string {
  const { q, min_score, max_price_usd, min_uptime, payee, sort, order } = filters;
  return JSON.stringify({ q, min_score, max_price_usd, min_uptime, payee, sort, order });
}

/** Returns the query that a cursor carries; null for one that is invalid, as no cursor of this server's is. */
function filtersOf(text: string, readers: Readers): SentFilters | null {
  try {
    return readers.filters(JSON.parse(text));
  } catch {
    return null;
  }
}

function unknownCursor(): ApiError {
  return new ApiError("invalid_request", "cursor is not one that this server gave out.");
}

function answerListing(call: Call, view: View): Reply {
  const host = (call.params.host ?? "").toLowerCase().replace(/\.$/, "");
  const row = findHost(view.snapshot, host);
  if (row < 0) throw new ApiError("not_found", "There is no listing of this host.");
  const body = new Uint8Array(rowBytes(view.snapshot, row));
  const etag = `"${sha256(body).slice(0, 16)}"`;
  const headers = { ...freshnessHeaders(view), ETag: etag };
  if (isCurrent(call.request, etag)) return { status: 304, body: null, headers };
  return { status: 200, body, headers };
}

async function answerChanges(
  call: Call,
  directory: Directory,
  { cursor = "", limit = CHANGES_PAGE_LIMIT }: Static<typeof ChangesQuery>,
): Promise<Reply> {
  const sent = cursor === "" ? null : readFeedCursor(cursor);
  if (sent === null && cursor !== "") throw unknownCursor();
  const known = viewOf(directory).feed;
  // Another node may have given the cursor out, of a state that is not here yet.
  if (sent !== null && (sent.epoch !== known.epoch || sent.seq > known.lastSeq)) await directory.catchUp();
  const view = viewOf(directory);
  const { feed, snapshot } = view;
  const position = sent ?? { epoch: feed.epoch, seq: 0 };
  const { seq } = position;
  if (position.epoch !== feed.epoch || !isRetained(feed, seq)) throw gone();
  const page = await readChangePage(feed, seq, limit).catch((cause: unknown) => {
    throw gone(cause);
  });
  const hasMore = page.lastSeq < feed.lastSeq;
  const headers = {
    ...freshnessHeaders(view),
    ETag: `"${feed.epoch}-${seq}-${page.lastSeq}${hasMore ? "-more" : ""}"`,
    "X-Directory-Epoch": feed.epoch,
    "X-Directory-Version": `${snapshot.version}`,
    "X-Directory-Count": `${snapshot.count}`,
  };
  if (isCurrent(call.request, headers.ETag)) return { status: 304, body: null, headers };
  const tail = JSON.stringify({
    next_cursor: writeFeedCursor({ epoch: feed.epoch, seq: page.lastSeq }),
    has_more: hasMore,
  });
  const body = Buffer.concat([
    Buffer.from(`{"epoch":${JSON.stringify(feed.epoch)},"changes":[`),
    page.text,
    Buffer.from(`],${tail.slice(1)}`),
  ]);
  return { status: 200, body, headers };
}

function gone(cause?: unknown): ApiError {
  return new ApiError(
    "not_found",
    "Not all changes from there on are kept any more. Take /v1/directory/export and go on from its X-Directory-Cursor.",
    { cause },
  );
}
