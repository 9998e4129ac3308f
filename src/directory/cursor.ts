/** Cursors are base64url of plain text: opaque to callers, readable to us, and checked like any other input. */

/** Where a page walk goes on: only on the snapshot it began on, only for the query it began with. */
export type PageCursor = {
  readonly version: number;
  /** The first characters of the snapshot's digest: versions of two histories may be equal. */
  readonly digest: string;
  /** The place in the sort order to go on from. */
  readonly place: number;
  /** The query in its canonical text. */
  readonly query: string;
};

/** Returns the cursor of a page as callers get it. */
export function writePageCursor(cursor: PageCursor): string {
  const { version, digest, place, query } = cursor;
  return Buffer.from(`${version}.${digest}.${place}.${query}`).toString("base64url");
}

/** Returns what a cursor says, or null where it was not written here. */
export function readPageCursor(text: string): PageCursor | null {
  const [, version, digest, place, query] =
    /^(\d{1,15})\.([0-9a-f]{8})\.(\d{1,9})\.(.*)$/s.exec(decode(text)) ?? [];
  if (version === undefined || digest === undefined || place === undefined || query === undefined)
    return null;
  return { version: Number(version), digest, place: Number(place), query };
}

/** A reader of the change feed knows everything up to `seq`. */
export type FeedCursor = { readonly epoch: string; readonly seq: number };

/** Returns the cursor of the feed as callers get it. */
export function writeFeedCursor(cursor: FeedCursor): string {
  return Buffer.from(`${cursor.epoch}.${cursor.seq}`).toString("base64url");
}

/** Returns what a cursor says, or null where it was not written here. */
export function readFeedCursor(text: string): FeedCursor | null {
  const [, epoch, seq] = /^([\w-]{1,64})\.(\d{1,15})$/.exec(decode(text)) ?? [];
  return epoch === undefined || seq === undefined ? null : { epoch, seq: Number(seq) };
}

const CURSOR_LENGTH_MAX = 4096;

function decode(text: string): string {
  if (text.length > CURSOR_LENGTH_MAX || !/^[\w-]+$/.test(text)) return "";
  return Buffer.from(text, "base64url").toString();
}
