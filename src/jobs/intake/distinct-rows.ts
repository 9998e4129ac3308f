import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { StorageError } from "../../store/storage-error.ts";

/** Finds the rows whose text an earlier row has to the letter, however many rows there are. */
export type DistinctRows = Disposable & {
  /** Takes a row with its number; numbers ascend. */
  readonly add: (row: number, text: string) => void;
  /** Emits each duplicate, a part of the rows at each step, so that other work gets in between. */
  readonly findDuplicates: (onDuplicate: (row: number) => void) => Generator<void, void, undefined>;
};

export type DistinctRowsOptions = {
  /** Where rows go that memory does not hold; the file has no name and goes with the process. */
  readonly spillPath: string;
  /** Keeps a caller from choosing which rows share a partition. */
  readonly seed: number;
};

/** Rows with the same text are in the same partition, so one partition at a time is compared in memory. */
const PARTITIONS = 64;
/** What rows may take in memory, in characters and `ROW_BYTES` for each; past it they are written to the file. */
const HELD_MAX = 16_777_216;
/** About what a row takes beside its characters: its string, its number and the places of both. */
const ROW_BYTES = 64;
/** Rows that are compared in one step. */
const STEP_ROWS = 65_536;
const BEYOND_LATIN1 = /[\u0100-\uffff]/;

/** Some rows of one partition in the file: their numbers, their lengths, their characters. */
type Block = {
  readonly at: number;
  readonly bytes: number;
  readonly rows: number;
  readonly isLatin1: boolean;
};

type Partition = { numbers: number[]; texts: string[]; readonly blocks: Block[] };

/** Compares texts themselves, not their hashes: two rows are the same only where each character is. */
export function createDistinctRows({ spillPath, seed }: DistinctRowsOptions): DistinctRows {
  const partitions = Array.from(
    { length: PARTITIONS },
    (): Partition => ({ numbers: [], texts: [], blocks: [] }),
  );
  let held = 0;
  let file: number | null = null;
  let fileBytes = 0;

  function openSpill(): number {
    const opened = openSync(spillPath, "w+", 0o600);
    unlinkSync(spillPath);
    return opened;
  }

  function spill(partition: Partition): void {
    if (partition.texts.length === 0) return;
    file ??= openSpill();
    const { bytes, isLatin1 } = encodeBlock(partition);
    for (let written = 0; written < bytes.byteLength; ) {
      written += writeSync(file, bytes, written, bytes.byteLength - written, fileBytes + written);
    }
    partition.blocks.push({ at: fileBytes, bytes: bytes.byteLength, rows: partition.texts.length, isLatin1 });
    fileBytes += bytes.byteLength;
    partition.numbers = [];
    partition.texts = [];
  }

  function readBlock(block: Block): { numbers: Uint32Array; texts: Generator<string> } {
    if (file === null) throw new Error("a block was written to no file");
    const packed = new Uint8Array(block.bytes);
    for (let read = 0; read < block.bytes; ) {
      const count = readSync(file, packed, read, block.bytes - read, block.at + read);
      if (count === 0) throw new StorageError("the file of them is shorter than what was written");
      read += count;
    }
    return decodeBlock(packed, block);
  }

  /** The runs of a partition's rows, in their order. */
  function* runsOf({ blocks, numbers, texts }: Partition) {
    for (const block of blocks) yield readBlock(block);
    yield { numbers, texts };
  }

  function* compare(partition: Partition, onDuplicate: (row: number) => void): Generator<void> {
    const met = new Set<string>();
    let compared = 0;
    for (const { numbers, texts } of runsOf(partition)) {
      let at = 0;
      for (const text of texts) {
        const before = met.size;
        met.add(text);
        if (met.size === before) onDuplicate(numbers[at] ?? 0);
        at += 1;
        compared += 1;
        if (compared % STEP_ROWS === 0) yield;
      }
    }
  }

  return {
    add(row, text) {
      const partition = partitions[partitionOf(text, seed)];
      if (partition === undefined) throw new Error("a row belongs to no partition");
      partition.numbers.push(row);
      partition.texts.push(text);
      held += text.length + ROW_BYTES;
      if (held < HELD_MAX) return;
      for (const each of partitions) spill(each);
      held = 0;
    },
    *findDuplicates(onDuplicate) {
      for (const partition of partitions) {
        yield* compare(partition, onDuplicate);
        partition.numbers = [];
        partition.texts = [];
        yield;
      }
    },
    [Symbol.dispose]() {
      if (file !== null) closeSync(file);
      file = null;
      for (const partition of partitions) {
        partition.numbers = [];
        partition.texts = [];
      }
    },
  };
}

function partitionOf(text: string, seed: number): number {
  return Bun.hash.xxHash32(text, seed) % PARTITIONS;
}

function encodeBlock({ numbers, texts }: Partition): { bytes: Uint8Array; isLatin1: boolean } {
  const joined = texts.join("");
  // Half of a surrogate pair has no UTF-8 form, so texts beyond Latin 1 are kept as they stand in memory.
  const isLatin1 = !BEYOND_LATIN1.test(joined);
  const characters = Buffer.from(joined, isLatin1 ? "latin1" : "utf16le");
  const head = new Uint32Array(texts.length * 2);
  head.set(numbers);
  for (const [at, text] of texts.entries()) head[texts.length + at] = text.length;
  const headBytes = new Uint8Array(head.buffer);
  return { bytes: Bun.zstdCompressSync(Buffer.concat([headBytes, characters]), { level: 1 }), isLatin1 };
}

function decodeBlock(
  packed: Uint8Array<ArrayBuffer>,
  { rows, isLatin1 }: Block,
): { numbers: Uint32Array; texts: Generator<string> } {
  const bytes = unpacked(packed);
  const head = new Uint32Array(bytes.slice(0, rows * 8).buffer, 0, rows * 2);
  const joined = bytes.subarray(rows * 8).toString(isLatin1 ? "latin1" : "utf16le");
  function* texts() {
    let start = 0;
    for (let at = 0; at < rows; at++) {
      const end = start + (head[rows + at] ?? 0);
      yield joined.slice(start, end);
      start = end;
    }
  }
  return { numbers: head.subarray(0, rows), texts: texts() };
}

/** A file that was cut short and written on has zeros in the gap. */
function unpacked(packed: Uint8Array<ArrayBuffer>): Buffer {
  try {
    return Bun.zstdDecompressSync(packed);
  } catch (error) {
    throw new StorageError("the file of them is not what was written", { cause: error });
  }
}
