import type { SortField } from "../../contract/words.ts";
import { type Listing, listingText, priceMicroUsd } from "../listing.ts";
import { payeeKey } from "../payee.ts";
import { createDictionary, type Dictionary } from "./dictionary.ts";
import { bytesAt, hasText, type Place, type Segment, type SegmentWriter } from "./shared-bytes.ts";
import { wordsOfListing } from "./words.ts";

/**
 * A listing in the sync thread: the place of its text in shared memory, and the fields that are sorted and searched.
 * One flat object, as there is one for each listing.
 */
export type Row = Place &
  Readonly<Record<SortField, number>> & {
    readonly host: string;
    readonly payee: string;
    readonly payToChangedAt: string | null;
    /** The place of its words in the dictionary. */
    readonly words: number;
  };

/** Rows by host. */
export type Rows = ReadonlyMap<string, Row>;

/**
 * Creates the row of a listing. Returns `previous` itself where nothing differs, so that an unchanged listing costs
 * no memory.
 */
export function createRow(
  listing: Listing,
  payToChangedAt: string | null,
  previous: Row | undefined,
  dependencies: { readonly writer: SegmentWriter; readonly dictionary: Dictionary },
): Row {
  const bytes = dependencies.writer.encode(listingText(listing, payToChangedAt));
  if (previous !== undefined && hasText(previous, bytes)) return previous;
  const { evidence } = listing;
  const { segment, offset, length } = dependencies.writer.write(bytes);
  const payee = payeeKey(evidence.pay_to) ?? evidence.pay_to;
  return {
    // Both rows share one string.
    host: previous?.host ?? listing.host,
    segment,
    offset,
    length,
    score: listing.score,
    price: priceMicroUsd(evidence.price_usd),
    uptime: evidence.uptime_30d ?? Number.NaN,
    latency: evidence.median_latency_ms ?? Number.NaN,
    payers: evidence.payers_30d,
    last_paid: evidence.last_paid === null ? Number.NaN : Date.parse(evidence.last_paid),
    payee: previous?.payee === payee ? previous.payee : payee,
    payToChangedAt,
    words: dependencies.dictionary.keep(wordsOfListing(listing), previous?.words),
  };
}

/** Moves the texts into new segments where there are many segments, or much unused text in them. */
export function compactTexts(rows: Rows, createWriter: () => SegmentWriter): Rows {
  let live = 0;
  const segments = new Set<Segment>();
  for (const row of rows.values()) {
    live += row.length;
    segments.add(row.segment);
  }
  let held = 0;
  for (const segment of segments) held += segment.length;
  if (segments.size <= SEGMENTS_MAX && held <= live * HELD_SHARE_MAX + SLACK_BYTES) return rows;
  const writer = createWriter();
  const moved = new Map<string, Row>();
  for (const [host, row] of rows) moved.set(host, { ...row, ...writer.write(bytesAt(row)) });
  writer.finish();
  return moved;
}

/** Moves the words into a new dictionary where more than half of the present one is unused. */
export function compactWords(rows: Rows, dictionary: Dictionary): { rows: Rows; dictionary: Dictionary } {
  let live = 0;
  for (const row of rows.values()) live += dictionary.lengthOf(row.words) + 1;
  if (dictionary.size() <= live * 2 + SLACK_WORDS) return { rows, dictionary };
  const fresh = createDictionary();
  const moved = new Map<string, Row>();
  for (const [host, row] of rows) {
    const texts: string[] = [];
    dictionary.each(row.words, (number) => texts.push(dictionary.wordOf(number)));
    moved.set(host, { ...row, words: fresh.keep(texts) });
  }
  return { rows: moved, dictionary: fresh };
}

const SEGMENTS_MAX = 128;
const HELD_SHARE_MAX = 1.25;
const SLACK_BYTES = 8 * 1024 * 1024;
const SLACK_WORDS = 100_000;
