import { isUtf8 } from "node:buffer";
import { notUtf8, type RecordForm, type RecordSink, type Refusal, type Span } from "./records.ts";
import type { RowHashes } from "./row-hashes.ts";

/** Some rows of an input as they are stored: compressed, each record on a line. */
export type IntakeChunk = {
  /** From 0 on. */
  readonly n: number;
  readonly rows: number;
  readonly form: RecordForm;
  readonly body: Uint8Array<ArrayBuffer>;
};

export type ChunkBuilder = RecordSink & {
  /** Ends the last chunk. */
  readonly end: () => Refusal | null;
  /** The chunks since the last call. */
  readonly taken: () => IntakeChunk[];
  readonly rows: () => number;
};

export type ChunkBuilderOptions = {
  readonly rowsMax: number;
  readonly chunkRowsMax: number;
  readonly hashes: RowHashes;
};

/** A chunk ends before its records, or its items, pass this: its items cross threads in one piece. */
const CHUNK_BYTES_MAX = 4_194_304;
const CHUNK_ITEM_BYTES_MAX = 262_144;
const NEWLINE = 0x0a;
const COMPRESSION_LEVEL = 3;

/** Collects records into chunks of one form. Refuses a row beyond `rowsMax`, and one that is not UTF-8. */
export function createChunkBuilder({ rowsMax, chunkRowsMax, hashes }: ChunkBuilderOptions): ChunkBuilder {
  const encoder = new TextEncoder();
  let buffer = new Uint8Array(65_536);
  let used = 0;
  let form: RecordForm = "text";
  let chunkRows = 0;
  let chunkItemBytes = 0;
  let chunks: IntakeChunk[] = [];
  let n = 0;

  function makeRoom(bytes: number): void {
    if (used + bytes <= buffer.byteLength) return;
    const larger = new Uint8Array(Math.max(buffer.byteLength * 2, used + bytes));
    larger.set(buffer.subarray(0, used));
    buffer = larger;
  }

  function finishChunk(): Refusal | null {
    if (chunkRows === 0) return null;
    const text = buffer.subarray(0, used - 1);
    if (!isUtf8(text)) return notUtf8(firstOddRow(text));
    const body = Bun.zstdCompressSync(text, { level: COMPRESSION_LEVEL });
    chunks.push({ n, rows: chunkRows, form, body: new Uint8Array(body) });
    n += 1;
    chunkRows = 0;
    chunkItemBytes = 0;
    used = 0;
    return null;
  }

  /** The first row of a chunk that is not UTF-8. */
  function firstOddRow(text: Uint8Array): number {
    const firstRow = hashes.rows() - chunkRows + 1;
    let row = firstRow;
    for (let start = 0; ; row++) {
      const newline = text.indexOf(NEWLINE, start);
      const end = newline === -1 ? text.byteLength : newline;
      if (newline === -1 || !isUtf8(text.subarray(start, end))) break;
      start = end + 1;
    }
    return row;
  }

  function take(recordForm: RecordForm, record: Span, item: Span): Refusal | null {
    const bytes = record.end - record.start;
    if (hashes.rows() >= rowsMax) {
      return {
        code: "invalid_request",
        message: `Row ${rowsMax + 1} is beyond the ${rowsMax} rows of a job.`,
      };
    }
    const itemBytes = item.end - item.start;
    const isFull =
      chunkRows >= chunkRowsMax ||
      used + bytes > CHUNK_BYTES_MAX ||
      chunkItemBytes + itemBytes > CHUNK_ITEM_BYTES_MAX;
    if (isFull || recordForm !== form) {
      const refusal = finishChunk();
      if (refusal !== null) return refusal;
      form = recordForm;
    }
    makeRoom(bytes + 1);
    // A short run is copied quicker byte by byte.
    for (let at = record.start; at < record.end; at++) buffer[used++] = record.bytes[at] ?? 0;
    buffer[used++] = NEWLINE;
    chunkRows += 1;
    chunkItemBytes += itemBytes;
    hashes.add(item.bytes, item.start, item.end);
    return null;
  }

  function spanOf(text: string): Span {
    const bytes = encoder.encode(text);
    return { bytes, start: 0, end: bytes.byteLength };
  }

  return {
    take,
    takeText: (recordForm, record, item) => take(recordForm, spanOf(record), spanOf(item)),
    end: finishChunk,
    taken() {
      const taken = chunks;
      chunks = [];
      return taken;
    },
    rows: () => hashes.rows(),
  };
}
