import { closeSync, fsyncSync, ftruncateSync, openSync, statSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { DAY_MS } from "../../platform/days.ts";
import type { Change } from "./contents.ts";
import { createBatchWriter } from "./durable-file.ts";
import { linesOfFile } from "./line-file.ts";

/**
 * A file of the change feed: JSON lines, one for each change, in the form in which the feed returns them. It is
 * append-only; bytes beyond `bytes` were never committed.
 */
export type LogFile = {
  readonly file: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly bytes: number;
  /** When the first and the last line were written, ms UTC. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** The offset of every 64th line, so that no reader counts from the start. */
  readonly marks: readonly number[];
};

export const MARK_LINES = 64;
const FILE_BYTES_MAX = 64 * 1024 * 1024;
const FILE_MS_MAX = DAY_MS;
const RETENTION_MS = 30 * DAY_MS;

/** Appends the changes after `lastSeq` durably, and returns the files with them. */
export function appendChanges(
  folder: string,
  files: readonly LogFile[],
  changes: readonly Change[],
  position: { readonly epoch: string; readonly lastSeq: number; readonly now: number },
): readonly LogFile[] {
  if (changes.length === 0) return files;
  const { now, lastSeq, epoch } = position;
  const last = files.at(-1);
  const continues = last !== undefined && last.bytes < FILE_BYTES_MAX && now - last.firstAt < FILE_MS_MAX;
  const open: LogFile = continues
    ? last
    : {
        file: `changes-${epoch}-${lastSeq + 1}.ndjson`,
        firstSeq: lastSeq + 1,
        lastSeq,
        bytes: 0,
        firstAt: now,
        lastAt: now,
        marks: [],
      };
  const written = appendTo(join(folder, open.file), open, changes, now);
  return continues ? [...files.slice(0, -1), written] : [...files, written];
}

function appendTo(path: string, log: LogFile, changes: readonly Change[], now: number): LogFile {
  const tail = `,"at":"${new Date(now).toISOString()}"}\n`;
  const marks = [...log.marks];
  const descriptor = openSync(path, "a", 0o600);
  try {
    // An interrupted sync may have left lines that are not committed.
    ftruncateSync(descriptor, log.bytes);
    const writer = createBatchWriter(descriptor);
    let seq = log.lastSeq;
    for (const change of changes) {
      seq += 1;
      if ((seq - log.firstSeq) % MARK_LINES === 0) marks.push(log.bytes + writer.bytes());
      // A host needs no escaping in JSON.
      writer.put(`{"seq":${seq},"op":"${change.op}","host":"`);
      writer.put(change.host);
      writer.put('"');
      if (change.op === "upsert") {
        writer.put(',"listing":');
        writer.putText(change.row);
      }
      writer.put(tail);
    }
    writer.flush();
    fsyncSync(descriptor);
    const bytes = log.bytes + writer.bytes();
    return { ...log, lastSeq: log.lastSeq + changes.length, bytes, lastAt: now, marks };
  } catch (error) {
    // Frees the space, which others need on a full disk.
    ftruncateSync(descriptor, log.bytes);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the files that are still needed: those with a change of the last 30 days, the newest up to `bytesMax`. */
export function retainedFiles(files: readonly LogFile[], now: number, bytesMax: number): readonly LogFile[] {
  let bytes = 0;
  let start = files.length;
  while (start > 0) {
    const file = files[start - 1];
    if (file === undefined || now - file.lastAt > RETENTION_MS) break;
    bytes += file.bytes;
    if (bytes > bytesMax && start < files.length) break;
    start -= 1;
  }
  return files.slice(start);
}

/** Yields the committed lines after `seq`, in order. Throws where a file is shorter than when it was committed. */
export function* linesAfter(folder: string, files: readonly LogFile[], seq: number): Generator<string> {
  for (const log of files) {
    if (log.lastSeq <= seq) continue;
    const path = join(folder, log.file);
    const { size } = statSync(path);
    if (size < log.bytes) throw new Error(`${log.file} has ${size} of ${log.bytes} bytes`);
    const skip = Math.max(0, seq + 1 - log.firstSeq);
    const start = log.marks[Math.floor(skip / MARK_LINES)] ?? log.bytes;
    let current = log.firstSeq + Math.floor(skip / MARK_LINES) * MARK_LINES;
    const lines = linesOfFile(path, start, log.bytes, () => {
      throw new Error(`${log.file} is cut inside a line`);
    });
    for (const line of lines) {
      if (current > seq) yield line;
      current += 1;
    }
  }
}

/** Removes a file if it exists. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
