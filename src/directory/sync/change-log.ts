import { closeSync, fsyncSync, ftruncateSync, openSync, statSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import type { Change } from "./contents.ts";
import { createBatchWriter } from "./durable-file.ts";
import { linesOfFile } from "./line-file.ts";

/**
 * The change feed on disk: files of JSON lines, one line for each change and in the very spelling in which
 * the feed answers it. Lines are only ever added; what lies past `bytes` was never committed.
 */
export type LogFile = {
  readonly file: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly bytes: number;
  /** When the first and the last line were written, ms UTC. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** Where every 64th line begins, so that a reader need not count from the top. */
  readonly marks: readonly number[];
};

export const MARK_LINES = 64;
const FILE_BYTES_MAX = 64 * 1024 * 1024;
const FILE_MS_MAX = 86_400_000;
const RETENTION_MS = 30 * 86_400_000;

/** Adds the changes behind `lastSeq` durably and gives the files as they then are. */
export function appendChanges(
  folder: string,
  files: readonly LogFile[],
  changes: readonly Change[],
  position: { readonly epoch: string; readonly lastSeq: number; readonly now: number },
): readonly LogFile[] {
  if (changes.length === 0) return files;
  const { now, lastSeq, epoch } = position;
  const last = files.at(-1);
  const goesOn = last !== undefined && last.bytes < FILE_BYTES_MAX && now - last.firstAt < FILE_MS_MAX;
  const open: LogFile = goesOn
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
  return goesOn ? [...files.slice(0, -1), written] : [...files, written];
}

function appendTo(path: string, log: LogFile, changes: readonly Change[], now: number): LogFile {
  const tail = `,"at":"${new Date(now).toISOString()}"}\n`;
  const marks = [...log.marks];
  const descriptor = openSync(path, "a", 0o600);
  try {
    // A sync that was cut short may have left lines which no state speaks of.
    ftruncateSync(descriptor, log.bytes);
    const writer = createBatchWriter(descriptor);
    let seq = log.lastSeq;
    for (const change of changes) {
      seq += 1;
      if ((seq - log.firstSeq) % MARK_LINES === 0) marks.push(log.bytes + writer.bytes());
      // A host needs no escape in JSON.
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
    // On a full disk others need the room.
    ftruncateSync(descriptor, log.bytes);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the files that are still needed: those with a change of the last 30 days, the newest up to `bytesMax`. */
export function retainedFiles(files: readonly LogFile[], now: number, bytesMax: number): readonly LogFile[] {
  let bytes = 0;
  let from = files.length;
  while (from > 0) {
    const file = files[from - 1];
    if (file === undefined || now - file.lastAt > RETENTION_MS) break;
    bytes += file.bytes;
    if (bytes > bytesMax && from < files.length) break;
    from -= 1;
  }
  return files.slice(from);
}

/** The committed lines behind `seq`, in order. Throws where a file is shorter than it was when committed. */
export function* linesAfter(folder: string, files: readonly LogFile[], seq: number): Generator<string> {
  for (const log of files) {
    if (log.lastSeq <= seq) continue;
    const path = join(folder, log.file);
    const { size } = statSync(path);
    if (size < log.bytes) throw new Error(`${log.file} has ${size} of ${log.bytes} bytes`);
    const skip = Math.max(0, seq + 1 - log.firstSeq);
    const from = log.marks[Math.floor(skip / MARK_LINES)] ?? log.bytes;
    let current = log.firstSeq + Math.floor(skip / MARK_LINES) * MARK_LINES;
    const lines = linesOfFile(path, from, log.bytes, () => {
      throw new Error(`${log.file} is cut inside a line`);
    });
    for (const line of lines) {
      if (current > seq) yield line;
      current += 1;
    }
  }
}

/** Removes a file that may be gone already. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
