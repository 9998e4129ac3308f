import { join } from "node:path";
import { type LogFile, MARK_LINES } from "./sync/change-log.ts";
import { TEXT_BYTES_MAX } from "./sync/draft.ts";
import type { Feed } from "./sync/syncer.ts";

/** A run of changes as JSON text, separated by commas. */
export type ChangePage = {
  readonly text: Uint8Array;
  /** The last change it holds; the position asked for where it holds none. */
  readonly lastSeq: number;
};

/** What one page may hold, whatever its limit says: enough for a listing of the largest size. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** The lines from a mark to the next, at their longest, and a page behind them. */
const READ_BYTES_MAX = PAGE_BYTES_MAX + MARK_LINES * (TEXT_BYTES_MAX + 1000);
const LINE_END = 0x0a;
const COMMA = 0x2c;

/** Returns whether the feed still holds every change behind `seq`. */
export function isRetained(feed: Feed, seq: number): boolean {
  const first = feed.files[0]?.firstSeq ?? feed.lastSeq + 1;
  return seq >= first - 1 && seq <= feed.lastSeq;
}

/**
 * Reads the changes behind `seq`, at most `limit` of them and those of one file: a reader goes on with the
 * next page. The lines are answered as they were written; nothing is parsed.
 * `seq` must be retained. Throws where the file was removed meanwhile or is damaged.
 */
export async function readChangePage(feed: Feed, seq: number, limit: number): Promise<ChangePage> {
  const log = feed.files.find((file) => file.lastSeq > seq);
  if (log === undefined) return { text: new Uint8Array(), lastSeq: seq };
  const skip = Math.max(0, seq + 1 - log.firstSeq);
  const from = log.marks[Math.floor(skip / MARK_LINES)] ?? log.bytes;
  const to = Math.min(log.marks[Math.ceil((skip + limit) / MARK_LINES)] ?? log.bytes, from + READ_BYTES_MAX);
  const bytes = await Bun.file(join(feed.folder, log.file)).slice(from, to).bytes();
  if (bytes.length !== to - from) throw new Error(`${log.file} is shorter than it was`);
  const page = cutPage(bytes.subarray(afterLines(bytes, 0, skip % MARK_LINES)), log, seq, limit);
  if (page.lastSeq === seq) throw new Error(`${log.file} has no line ${seq + 1}`);
  return page;
}

function cutPage(bytes: Uint8Array, log: LogFile, seq: number, limit: number): ChangePage {
  let lastSeq = Math.max(seq, log.firstSeq - 1);
  let end = 0;
  for (let lines = 0; lines < limit && lastSeq < log.lastSeq; lines++) {
    const next = bytes.indexOf(LINE_END, end);
    if (next < 0 || (lines > 0 && next > PAGE_BYTES_MAX)) break;
    // JSON text holds no line end of its own, so each one stands between two changes.
    if (lines > 0) bytes[end - 1] = COMMA;
    end = next + 1;
    lastSeq += 1;
  }
  return { text: bytes.subarray(0, Math.max(0, end - 1)), lastSeq };
}

function afterLines(bytes: Uint8Array, from: number, lines: number): number {
  let at = from;
  for (let line = 0; line < lines; line++) at = bytes.indexOf(LINE_END, at) + 1;
  return at;
}
