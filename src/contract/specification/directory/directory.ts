import { type TSchema, Type } from "@sinclair/typebox";
import {
  ChangesQuery,
  ChangesView,
  DirectoryQuery,
  DirectoryView,
  ListingView,
} from "../../directory-schemas.ts";
import { QUERY_WORDS_MAX } from "../../words.ts";
import type { HeaderName } from "../headers.ts";
import { described, operation } from "../operation.ts";

const FRESHNESS = ["ETag", "Age", "Cache-Control"] as const satisfies readonly HeaderName[];
const FEED = [
  "X-Directory-Epoch",
  "X-Directory-Version",
  "X-Directory-Count",
] as const satisfies readonly HeaderName[];

const unchanged = (headers: readonly HeaderName[]) => ({
  description: "Nothing has changed since the copy whose ETag was sent.",
  headers,
});

const answers = (
  description: string,
  content: { readonly [mediaType: string]: TSchema },
  headers: readonly HeaderName[] = FRESHNESS,
) => ({
  200: { description, content, headers },
  304: unchanged(headers),
});

export const listListings = operation({
  operationId: "listListings",
  method: "GET",
  path: "/v1/directory",
  tag: "Directory",
  summary: "Find paid services",
  access: "public",
  query: described(DirectoryQuery, {
    q: `Words that the host, name, description or paths of the resources must have, the last one as a beginning. The first ${QUERY_WORDS_MAX} count.`,
    min_score: "The least score, 0 to 100.",
    max_price_usd: "The highest price of one call.",
    min_uptime: "The least uptime over 30 days, 0 to 1.",
    payee: "The address that is paid.",
    sort: "What to sort by; without it by `score`.",
    order: "Best first unless it says otherwise.",
    limit: "Listings on a page.",
    cursor: "The `next_cursor` of the page before. It carries the query and stays on its snapshot.",
  }),
  ifNoneMatch: true,
  replies: answers("A page of listings.", { "application/json": DirectoryView }),
  refusals: ["invalid_request", "directory_unavailable"],
  samples: {
    first: { summary: "The two best", query: { limit: 2 } },
    cheap: { summary: "Cheap and reliable", query: { max_price_usd: "0.02", min_uptime: 0.9, limit: 1 } },
    bad_limit: { summary: "A page that is too long", status: 400, query: { limit: 1000 } },
    bad_cursor: { summary: "A cursor of another origin", status: 400, query: { cursor: "x" } },
  },
});

export const getListing = operation({
  operationId: "getListing",
  method: "GET",
  path: "/v1/directory/:host",
  tag: "Directory",
  summary: "One service by its host",
  access: "public",
  parameters: { host: "The host, in any case." },
  ifNoneMatch: true,
  replies: answers("The listing.", { "application/json": ListingView }),
  refusals: ["not_found", "directory_unavailable"],
  samples: {
    listing: { summary: "A service", parameters: { host: "scan.example" } },
    unknown: { summary: "No such service", status: 404, parameters: { host: "nowhere.example" } },
  },
});

export const exportListings = operation({
  operationId: "exportListings",
  method: "GET",
  path: "/v1/directory/export",
  tag: "Directory",
  summary: "The whole directory",
  description:
    "One listing per line, or a JSON array where `Accept` prefers JSON. Compressed for those who take gzip.",
  access: "public",
  ifNoneMatch: true,
  replies: answers(
    "Every listing.",
    {
      "application/x-ndjson": Type.String({ description: "One listing per line." }),
      "application/json": Type.Array(ListingView),
    },
    [...FRESHNESS, ...FEED, "X-Directory-Cursor", "X-Directory-Digest", "Content-Encoding", "Vary"],
  ),
  refusals: ["overloaded", "directory_unavailable"],
});

export const listChanges = operation({
  operationId: "listChanges",
  method: "GET",
  path: "/v1/changes",
  tag: "Directory",
  summary: "What has changed since a cursor",
  description:
    "Without a cursor: from the first change of the epoch. Where changes from there on are not kept any more, with a cursor or without, the answer is 404: take the export and go on from its `X-Directory-Cursor`.",
  access: "public",
  query: described(ChangesQuery, {
    cursor: "The `next_cursor` of the page before, or the `X-Directory-Cursor` of an export.",
    limit: "Changes on a page.",
  }),
  ifNoneMatch: true,
  replies: answers("A page of changes.", { "application/json": ChangesView }, [...FRESHNESS, ...FEED]),
  refusals: ["invalid_request", "not_found", "directory_unavailable"],
  samples: {
    first: { summary: "The first change", query: { limit: 1 } },
    bad_cursor: { summary: "A cursor of another origin", status: 400, query: { cursor: "x" } },
  },
});

export const DIRECTORY_OPERATIONS = [listListings, exportListings, getListing, listChanges];
