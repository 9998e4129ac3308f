import { Type } from "@sinclair/typebox";
import { Word } from "./schema.ts";
import type { Body } from "./specification/reply-schema.ts";
import { SORT_FIELDS } from "./words.ts";

/** Entries of a page where the caller names no limit. */
export const DIRECTORY_PAGE_LIMIT = 50;
export const CHANGES_PAGE_LIMIT = 100;

const Filters = {
  q: Type.Optional(Type.String({ maxLength: 200 })),
  min_score: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
  max_price_usd: Type.Optional(
    Type.String({
      pattern: "^\\d{1,9}(?:\\.\\d{1,6})?$",
      demand: 'must be an amount in USD with at most six decimals, such as "0.05"',
    }),
  ),
  min_uptime: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  payee: Type.Optional(Type.String({ maxLength: 200 })),
  sort: Type.Optional(Word(SORT_FIELDS)),
  order: Type.Optional(Word(["asc", "desc"])),
};
const Cursor = Type.Optional(Type.String({ maxLength: 4096 }));

/** What the list of listings may be asked for. */
export const DirectoryQuery = Type.Object({
  ...Filters,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: DIRECTORY_PAGE_LIMIT })),
  cursor: Cursor,
});

/** What a page is filtered and sorted by. */
export const DirectoryFilters = Type.Object(Filters);

/** What the change feed may be asked for. */
export const ChangesQuery = Type.Object({
  cursor: Cursor,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: CHANGES_PAGE_LIMIT })),
});

const Nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);
const Usd = Type.String({ pattern: "^\\d+\\.\\d{6}$" });

export const ListingView = Type.Object(
  {
    host: Type.String(),
    service_name: Nullable(Type.String()),
    description: Type.String(),
    endpoints: Type.Integer(),
    score: Type.Number(),
    evidence: Type.Object({
      pay_to: Type.String(),
      uptime_30d: Nullable(Type.Number({ minimum: 0, maximum: 1 })),
      probes_30d: Type.Integer(),
      median_latency_ms: Nullable(Type.Number()),
      payers_30d: Type.Integer(),
      settlements_30d: Type.Integer(),
      last_paid: Nullable(Type.String()),
      pay_to_changed_at: Nullable(Type.String()),
      price_usd: Nullable(Usd),
    }),
    resources: Type.Array(
      Type.Object({ url: Type.String(), score: Type.Number(), price_usd: Nullable(Usd) }),
    ),
    judged_by: Type.String(),
  },
  { $id: "Listing" },
);

export const DirectoryView = Type.Object(
  {
    listings: Type.Array(ListingView),
    total: Type.Integer(),
    next_cursor: Nullable(Type.String()),
    snapshot: Type.Object({
      version: Type.Integer(),
      synced_at: Type.String(),
      stale: Type.Boolean(),
      count: Type.Integer(),
      quarantined: Type.Integer(),
    }),
  },
  { $id: "ListingPage" },
);

export const ChangesView = Type.Object(
  {
    epoch: Type.String(),
    changes: Type.Array(
      Type.Object({
        seq: Type.Integer(),
        op: Word(["upsert", "delete"]),
        host: Type.String(),
        listing: Type.Optional(ListingView),
        at: Type.String(),
      }),
    ),
    next_cursor: Type.String(),
    has_more: Type.Boolean(),
  },
  { $id: "ChangePage" },
);
export type ListingBody = Body<typeof ListingView>;
