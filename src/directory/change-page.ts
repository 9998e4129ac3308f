import { join } from "node:path";
import { type LogFile, MARK_LINES } from "./sync/change-log.ts";
import { TEXT_BYTES_MAX } from "./sync/draft.ts";
import type { Feed } from "./sync/syncer.ts";

/** A run of changes as JSON text, separated by commas. */
export type ChangePage = {
  readonly text: Uint8Array;
  /** The sequence number of its last change; the requested one for an empty page. */
  readonly lastSeq: number;
};

/** Bytes of a page, whatever its limit says: enough for the largest listing. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** The longest lines between two marks, and a page after them. */
const READ_BYTES_MAX = PAGE_BYTES_MAX + MARK_LINES * (TEXT_BYTES_MAX + 1000);
const LINE_END = 0x0a;
const COMMA = 0x2c;

/** Returns whether the feed still contains every change after `seq`. */
export function isRetained(feed: Feed, seq: number): boolean {
  const first = feed.files[0]?.firstSeq ?? feed.lastSeq + 1;
  return seq >= first - 1 && seq <= feed.lastSeq;
}

/**
 * Reads the changes after `seq`: at most `limit`, and those of one file, so that a reader continues with the next
 * page. The lines are returned as they were written, without parsing. `seq` must be retained. Throws where the file
 * is damaged, or removed meanwhile.
 */
export async function readChangePage(feed: Feed, seq: number, limit: number): Promise<ChangePage> {
  const log = feed.files.find((file) => file.lastSeq > seq);
  if (log === undefined) return { text: new Uint8Array(), lastSeq: seq };
  const skip = Math.max(0, seq + 1 - log.firstSeq);
  const start = log.marks[Math.floor(skip / MARK_LINES)] ?? log.bytes;
  const end = Math.min(
    log.marks[Math.ceil((skip + limit) / MARK_LINES)] ?? log.bytes,
    start + READ_BYTES_MAX,
  );
  const bytes = await Bun.file(join(feed.folder, log.file)).slice(start, end).bytes();
  if (bytes.length !== end - start) throw new Error(`${log.file} is shorter than it was`);
  const page = pageFrom(bytes.subarray(afterLines(bytes, 0, skip % MARK_LINES)), log, seq, limit);
  if (page.lastSeq === seq) throw new Error(`${log.file} has no line ${seq + 1}`);
  return page;
}

function pageFrom(bytes: Uint8Array, log: LogFile, seq: number, limit: number): ChangePage {
  let lastSeq = Math.max(seq, log.firstSeq - 1);
  let end = 0;
  for (let lines = 0; lines < limit && lastSeq < log.lastSeq; lines++) {
    const next = bytes.indexOf(LINE_END, end);
    if (next < 0 || (lines > 0 && next > PAGE_BYTES_MAX)) break;
    // JSON text contains no line end, so each one separates two changes.
    if (lines > 0) bytes[end - 1] = COMMA;
    end = next + 1;
    lastSeq += 1;
  }
  return { text: bytes.subarray(0, Math.max(0, end - 1)), lastSeq };
}

function afterLines(bytes: Uint8Array, start: number, lines: number): number {
  let at = start;
  for (let line = 0; line < lines; line++) at = bytes.indexOf(LINE_END, at) + 1;
  return at;
}
