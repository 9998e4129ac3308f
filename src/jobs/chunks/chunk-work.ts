import type { BatchKind, Counts, PlainText, VerifiedChunk, VerifyTask } from "../../batch/messages.ts";
import { LOOKUP_FAILURES } from "../../contract/words.ts";
import { isBitSet } from "../../platform/bits.ts";
import { itemsOf, type StoredChunk } from "../intake/chunk-rows.ts";
import type { InputTable } from "../intake/intake-messages.ts";
import type { DomainNumberings, NumberedChunk } from "./domain-numberings.ts";

/** What a thread does with a chunk of a job before and after verifying it. Pure: bytes in, bytes and numbers out. */

export type OpenTask = StoredChunk & {
  readonly kind: BatchKind;
  /** The type of documents that name none. */
  readonly type: string | null;
  readonly table: InputTable | null;
  readonly duplicates: Uint8Array | null;
  /** Rows before this one are finished. */
  readonly fromRow: number;
  /** The most rows to take. */
  readonly rowsMax: number;
  /** The most rows to take that are not duplicates. */
  readonly distinctMax: number;
  /** The results of the first round, where only rows whose look-up failed are taken; else null. */
  readonly uncheckedIn: readonly Uint8Array<ArrayBuffer>[] | null;
  /** The name of the numbering for the chunk's domains. */
  readonly numbering: string;
};

/** Rows of a chunk, ready to be verified. */
export type OpenedChunk = NumberedChunk & {
  /** The positions of the rows that were taken. */
  readonly rows: readonly number[];
};

/** Reads the rows that are to be verified out of a stored chunk. */
export function openChunk(task: OpenTask, numberings: DomainNumberings): OpenedChunk {
  const all = itemsOf(task, task);
  const rows = task.uncheckedIn === null ? rowsToTake(task, all.length) : uncheckedRows(task.uncheckedIn);
  const items = rows.map((row) => all[row] ?? "");
  const duplicates = duplicatesAmong(rows, task);
  return { ...numberings.make(task.numbering, task.kind, items, duplicates), rows };
}

export type GiveUpTask = StoredChunk &
  Pick<OpenTask, "kind" | "type" | "table" | "duplicates"> & {
    /** The rows that are given up. */
    readonly rows: readonly number[];
  };

/** Returns `check_failed` for rows of a stored chunk without verifying them. */
export function giveUpRows(task: GiveUpTask, failed: (task: VerifyTask) => VerifiedChunk): VerifiedChunk {
  const all = itemsOf(task, task);
  return failed({
    kind: task.kind,
    items: JSON.stringify(task.rows.map((row) => all[row] ?? "")),
    count: task.rows.length,
    duplicates: duplicatesAmong(task.rows, task),
    domainNumbers: null,
    facts: null,
    country: null,
    separator: "\n",
    continues: false,
  });
}

function rowsToTake(task: OpenTask, count: number): number[] {
  const rows: number[] = [];
  let distinct = 0;
  const end = Math.min(count, task.fromRow + task.rowsMax);
  for (let row = task.fromRow; row < end; row++) {
    if (!isDuplicate(task, row)) {
      if (distinct === task.distinctMax) break;
      distinct += 1;
    }
    rows.push(row);
  }
  return rows;
}

/** Returns the indexes in `rows` of those that are duplicates. */
function duplicatesAmong(rows: readonly number[], task: Pick<OpenTask, "duplicates">): Uint32Array {
  return Uint32Array.from(rows.flatMap((row, at) => (isDuplicate(task, row) ? [at] : [])));
}

function isDuplicate({ duplicates }: Pick<OpenTask, "duplicates">, row: number): boolean {
  return duplicates !== null && isBitSet(duplicates, row);
}

/** The fields that show in a result that a look-up of ours failed. */
const UNCHECKED = LOOKUP_FAILURES.map((word) => `"sub_status":"${word}"`);

function uncheckedRows(bodies: readonly Uint8Array<ArrayBuffer>[]): number[] {
  return linesOf(bodies).flatMap((line, row) =>
    UNCHECKED.some((field) => line.includes(field)) ? [row] : [],
  );
}

/** Returns the lines of result bodies, in order. */
export function linesOf(bodies: readonly Uint8Array<ArrayBuffer>[]): string[] {
  return bodies.flatMap((body) => Bun.zstdDecompressSync(body).toString("utf8").split("\n"));
}

export type PackTask = {
  /** The results as JSON lines. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isCompressed: boolean;
  readonly counts: Counts;
  /** The results of the first round, and the rows in them that these replace; null in the first round. */
  readonly into: {
    readonly bodies: readonly Uint8Array<ArrayBuffer>[];
    readonly rows: readonly number[];
  } | null;
};

export type PackedResults = {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly lineBytes: number;
  /** Rows whose look-up failed and is tried once more; they are not counted. */
  readonly unchecked: number;
  readonly counts: Counts;
};

const COMPRESSION_LEVEL = 1;

/** Compresses results for the store. Results of the second round are final: none of them counts as unchecked. */
export function packResults({ bytes, isCompressed, counts, into }: PackTask): PackedResults {
  const plain = isCompressed
    ? Bun.zstdDecompressSync(bytes)
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (into !== null) {
    const lines = linesOf(into.bodies);
    const mended = plain.toString("utf8").split("\n");
    for (const [at, row] of into.rows.entries()) lines[row] = mended[at] ?? "";
    return { ...compressed(Buffer.from(lines.join("\n"))), unchecked: 0, counts };
  }
  const unchecked = countUnchecked(plain);
  const known = unchecked === 0 ? counts : { ...counts, unknown: (counts.unknown ?? 0) - unchecked };
  const packed = isCompressed ? { body: bytes, lineBytes: lineBytesOf(plain) } : compressed(plain);
  return { ...packed, unchecked, counts: known };
}

/** Returns the results of a chunk that is compressed already and in which no look-up failed. */
export function packedResults({ bytes, counts }: VerifiedChunk, plain: PlainText): PackedResults {
  return { body: new Uint8Array(bytes), lineBytes: lineBytesOf(plain), unchecked: 0, counts };
}

function compressed(bytes: Uint8Array): Pick<PackedResults, "body" | "lineBytes"> {
  const body = Bun.zstdCompressSync(new Uint8Array(bytes), { level: COMPRESSION_LEVEL });
  return { body: new Uint8Array(body), lineBytes: lineBytesOf(bytes) };
}

/** Counts the line end of the last line too, which is written when chunks are joined. */
function lineBytesOf({ byteLength }: { readonly byteLength: number }): number {
  return byteLength + 1;
}

const UNCHECKED_BYTES = UNCHECKED.map((field) => Buffer.from(field));

function countUnchecked(buffer: Buffer): number {
  let count = 0;
  for (const field of UNCHECKED_BYTES) {
    for (let at = buffer.indexOf(field); at !== -1; at = buffer.indexOf(field, at + 1)) count += 1;
  }
  return count;
}
