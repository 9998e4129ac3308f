import { type Listing, listingText, priceMicroUsd } from "./listing.ts";
import { payeeKey } from "./payee.ts";
import {
  bytesAt,
  createSegmentWriter,
  type Place,
  type Segment,
  type SegmentWriter,
} from "./shared-bytes.ts";
import type { SortField } from "./snapshot.ts";
import { createDictionary, type Dictionary } from "./text-index.ts";
import { wordsOfListing } from "./words.ts";

/** A listing as the sync thread keeps it: its text in shared memory, and what is sorted and searched by. */
export type Row = {
  readonly host: string;
  readonly place: Place;
  readonly values: Readonly<Record<SortField, number>>;
  readonly payee: string;
  readonly payToChangedAt: string | null;
  /** Numbers of its words in the dictionary. */
  readonly words: Uint32Array;
};

/** Rows by host. */
export type Rows = ReadonlyMap<string, Row>;

const encoder = new TextEncoder();

/**
 * Makes the row of a listing. Where nothing differs from `previous`, that row itself is given back, so that
 * an unchanged listing costs no memory.
 */
export function createRow(
  listing: Listing,
  payToChangedAt: string | null,
  previous: Row | undefined,
  parts: { readonly writer: SegmentWriter; readonly dictionary: Dictionary },
): Row {
  const bytes = encoder.encode(listingText(listing, payToChangedAt));
  if (previous !== undefined && Buffer.compare(bytesAt(previous.place), bytes) === 0) return previous;
  const { evidence } = listing;
  return {
    host: listing.host,
    place: parts.writer.write(bytes),
    values: {
      score: listing.score,
      price: priceMicroUsd(evidence.price_usd),
      uptime: evidence.uptime_30d ?? Number.NaN,
      latency: evidence.median_latency_ms ?? Number.NaN,
      payers: evidence.payers_30d,
      last_paid: evidence.last_paid === null ? Number.NaN : Date.parse(evidence.last_paid),
    },
    payee: payeeKey(evidence.pay_to) ?? evidence.pay_to,
    payToChangedAt,
    words: Uint32Array.from(wordsOfListing(listing), parts.dictionary.numberOf),
  };
}

/**
 * Moves the rows' texts into new segments where the old ones have become many, or hold more dead text than
 * live, and numbers the words anew where most are in use no more. Else all is given back as it is.
 */
export function compact(rows: Rows, dictionary: Dictionary): { rows: Rows; dictionary: Dictionary } {
  let live = 0;
  const segments = new Set<Segment>();
  const words = new Set<number>();
  for (const row of rows.values()) {
    live += row.place.length;
    segments.add(row.place.segment);
    for (const word of row.words) words.add(word);
  }
  let held = 0;
  for (const segment of segments) held += segment.bytes.length;
  const areTextsGood = segments.size <= SEGMENTS_MAX && held <= live * 2 + SLACK_BYTES;
  const areWordsGood = dictionary.size() <= words.size * 2 + SLACK_WORDS;
  if (areTextsGood && areWordsGood) return { rows, dictionary };
  const writer = createSegmentWriter();
  const fresh = createDictionary();
  const renumber = (word: number): number => fresh.numberOf(dictionary.wordOf(word));
  const moved = new Map<string, Row>();
  for (const [host, row] of rows) {
    moved.set(host, { ...row, place: writer.write(bytesAt(row.place)), words: row.words.map(renumber) });
  }
  writer.finish();
  return { rows: moved, dictionary: fresh };
}

const SEGMENTS_MAX = 128;
const SLACK_BYTES = 8 * 1024 * 1024;
const SLACK_WORDS = 50_000;
