/** Cursors: base64url of plain text, opaque to callers and validated like any other input. */

/** The position of a walk over pages, valid for the snapshot and the query with which it began. */
export type PageCursor = {
  readonly version: number;
  /** The first characters of the snapshot's digest: versions of two histories may be equal. */
  readonly digest: string;
  /** The place of the next page in the sort order. */
  readonly place: number;
  /** The query in its canonical text. */
  readonly query: string;
};

/** Encodes the cursor of a page. */
export function writePageCursor(cursor: PageCursor): string {
  const { version, digest, place, query } = cursor;
  return Buffer.from(`${version}.${digest}.${place}.${query}`).toString("base64url");
}

/** Decodes the cursor of a page; null for an invalid one. */
export function readPageCursor(text: string): PageCursor | null {
  const [, version, digest, place, query] =
    /^(\d{1,15})\.([0-9a-f]{8})\.(\d{1,9})\.(.*)$/s.exec(decode(text)) ?? [];
  if (version === undefined || digest === undefined || place === undefined || query === undefined)
    return null;
  return { version: Number(version), digest, place: Number(place), query };
}

/** The position of a reader of the change feed, which has every change up to `seq`. */
export type FeedCursor = { readonly epoch: string; readonly seq: number };

/** Encodes a cursor of the feed. */
export function writeFeedCursor(cursor: FeedCursor): string {
  return Buffer.from(`${cursor.epoch}.${cursor.seq}`).toString("base64url");
}

/** Decodes a cursor of the feed; null for an invalid one. */
export function readFeedCursor(text: string): FeedCursor | null {
  const [, epoch, seq] = /^([\w-]{1,64})\.(\d{1,15})$/.exec(decode(text)) ?? [];
  return epoch === undefined || seq === undefined ? null : { epoch, seq: Number(seq) };
}

const CURSOR_LENGTH_MAX = 4096;

function decode(text: string): string {
  if (text.length > CURSOR_LENGTH_MAX || !/^[\w-]+$/.test(text)) return "";
  return Buffer.from(text, "base64url").toString();
}
