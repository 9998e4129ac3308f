import { isBitSet, setBit } from "../../platform/bits.ts";
import { createChunkBuilder, type IntakeChunk } from "./chunk-builder.ts";
import { apart, CHUNK_ROWS_MAX, itemTextsOf } from "./chunk-rows.ts";
import { readCsvRecords } from "./csv-records.ts";
import { DecodingError, toUtf8, withinBytes } from "./decoding.ts";
import { createDistinctRows } from "./distinct-rows.ts";
import type { InputTable, IntakeOptions, IntakeOutcome } from "./intake-messages.ts";
import { readJsonRecords } from "./json-records.ts";
import { readNdjsonRecords, readTextRecords } from "./line-records.ts";
import type { Refusal } from "./records.ts";
import { createRowHashes, type RowHashes } from "./row-hashes.ts";

/** What the reading of an input needs of the process around it. */
export type IntakeHost = {
  /** The bytes of the input as they come, in pieces that are not tiny, each in a turn of the input. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Takes chunks away; the reading goes on when they are stored. */
  readonly store: (chunks: readonly IntakeChunk[]) => Promise<void>;
  /** The body of a chunk that was stored, in a turn of the input. */
  readonly chunkBody: (n: number) => Promise<Uint8Array<ArrayBuffer>>;
  /** Resolves in the next turn of the input, so that the others of the thread go on. */
  readonly turn: () => Promise<void>;
  /** Waits for a place among the inputs that are compared at a time. */
  readonly place: () => Promise<Disposable>;
};

/** An input of no more chunks is compared without a place: its rows take some megabytes at most. */
const FREE_CHUNKS_MAX = 4;

/**
 * Reads an input to its end: decodes it, splits it into rows, stores them in compressed chunks and finds the rows that
 * repeat an earlier one. Memory is bounded whatever the input: 9 bytes a row and a few chunks; with a place, 14 bytes a
 * row more and what `createDistinctRows` holds.
 */
export async function readInput(options: IntakeOptions, host: IntakeHost): Promise<IntakeOutcome> {
  const hashes = createRowHashes(options.seeds);
  const chunkRows: number[] = [];
  const forms: IntakeChunk["form"][] = [];
  const builder = createChunkBuilder({ rowsMax: options.rowsMax, chunkRowsMax: CHUNK_ROWS_MAX, hashes });
  const storeTaken = async () => {
    const chunks = builder.taken();
    if (chunks.length === 0) return;
    for (const { rows, form } of chunks) {
      chunkRows.push(rows);
      forms.push(form);
    }
    await host.store(chunks);
  };

  async function* pieces(): AsyncGenerator<Uint8Array> {
    const bounded = withinBytes(host.pieces, options.bytesMax);
    for await (const piece of toUtf8(bounded, options.encoding)) {
      yield piece;
      // The records of the piece before have been taken by now.
      await storeTaken();
    }
  }

  const read = await readRecords(options, pieces(), builder).catch((error: unknown): ReadOutcome => {
    if (error instanceof DecodingError) return { refusal: error.refusal };
    throw error;
  });
  const refusal = "refusal" in read ? read.refusal : builder.end();
  if (refusal !== null) return { ok: false, refusal };
  await storeTaken();
  const { table, fields, firstObject } = read as Extract<ReadOutcome, { table: unknown }>;
  const { bits, distinct } = await findDuplicates(options, host, { hashes, chunkRows, forms, table });
  return {
    ok: true,
    rows: builder.rows(),
    distinct,
    duplicates: bitsByChunk(bits, chunkRows),
    table,
    fields,
    firstObject,
  };
}

type ReadOutcome =
  | { readonly refusal: Refusal }
  | {
      readonly table: InputTable | null;
      readonly fields: { readonly [name: string]: unknown };
      readonly firstObject: number | null;
    };

async function readRecords(
  options: IntakeOptions,
  pieces: AsyncIterable<Uint8Array>,
  builder: Parameters<typeof readTextRecords>[1],
): Promise<ReadOutcome> {
  const plain = (refusal: Refusal | null): ReadOutcome =>
    refusal === null ? { table: null, fields: {}, firstObject: null } : { refusal };
  switch (options.form) {
    case "text":
      return plain(await readTextRecords(pieces, builder));
    case "ndjson":
      return plain(await readNdjsonRecords(pieces, builder, options.kind));
    case "json": {
      const outcome = await readJsonRecords(pieces, builder);
      return "refusal" in outcome ? outcome : { table: null, ...outcome.body };
    }
    case "csv": {
      const outcome = await readCsvRecords(pieces, builder, options);
      return "refusal" in outcome ? outcome : { table: outcome.table, fields: {}, firstObject: null };
    }
  }
}

type ReadRows = {
  readonly hashes: RowHashes;
  readonly chunkRows: readonly number[];
  readonly forms: readonly IntakeChunk["form"][];
  readonly table: InputTable | null;
};

/** Compares the rows that share a hash by their text; all others are distinct. */
async function findDuplicates(
  options: IntakeOptions,
  host: IntakeHost,
  { hashes, chunkRows, forms, table }: ReadRows,
): Promise<{ readonly bits: Uint8Array; readonly distinct: number }> {
  using _place = chunkRows.length > FREE_CHUNKS_MAX ? await host.place() : null;
  const shared = await inSteps(hashes.findShared(), host.turn);
  using rows = createDistinctRows({ spillPath: options.spillPath, seed: options.seeds[0] });
  let firstRow = 0;
  let candidates = 0;
  for (const [n, count] of chunkRows.entries()) {
    const numbers: number[] = [];
    for (let row = firstRow; row < firstRow + count; row++) if (isBitSet(shared, row)) numbers.push(row);
    if (numbers.length > 0) {
      const form = forms[n] ?? "text";
      const items = itemTextsOf({ form, body: await host.chunkBody(n) }, options, table);
      const texts = apart(numbers.map((row) => items[row - firstRow] ?? ""));
      for (const [at, row] of numbers.entries()) rows.add(row, texts[at] ?? "");
      candidates += numbers.length;
    }
    firstRow += count;
  }
  const bits = new Uint8Array(Math.ceil(firstRow / 8));
  let duplicates = 0;
  const mark = (row: number) => {
    setBit(bits, row);
    duplicates += 1;
  };
  if (candidates > 0) await inSteps(rows.findDuplicates(mark), host.turn);
  return { bits, distinct: firstRow - duplicates };
}

/** Runs a long computation a step in each turn. */
async function inSteps<Result>(
  steps: Generator<void, Result, undefined>,
  turn: IntakeHost["turn"],
): Promise<Result> {
  for (;;) {
    await turn();
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

function bitsByChunk(bits: Uint8Array, chunkRows: readonly number[]): (Uint8Array | null)[] {
  let firstRow = 0;
  return chunkRows.map((count) => {
    const own = new Uint8Array(Math.ceil(count / 8));
    let hasSome = false;
    for (let at = 0; at < count; at++) {
      if (!isBitSet(bits, firstRow + at)) continue;
      setBit(own, at);
      hasSome = true;
    }
    firstRow += count;
    return hasSome ? own : null;
  });
}
