import { expect, test } from "bun:test";
import { csvRecords, firstRecords } from "../../src/tables/csv-rows.ts";

const FORM = { delimiter: ",", lineEnds: ["\n"], rowsBefore: 0 };
const PIECE_CHARS = 65_536;

async function* pieces(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += PIECE_CHARS) yield text.slice(at, at + PIECE_CHARS);
}

async function cellsOf(text: string): Promise<string[]> {
  const cells: string[] = [];
  for await (const run of csvRecords("people.csv", pieces(text), FORM)) {
    for (const record of run) cells.push(...record);
  }
  return cells;
}

/** Cells that begin with a quote and contain a line end, each another, ten to a row. */
const quotedCells = (count: number) => Array.from({ length: count }, (_, at) => `"${at}\n`);
const rowsOf = (cells: readonly string[]) =>
  cells.map((cell, at) => `"${cell.replaceAll('"', '""')}"${at % 10 === 9 ? "\n" : ","}`).join("");

test("cells that begin with a quote and contain a line end are read as they are, over the borders of pieces", async () => {
  const cells = quotedCells(30_000);
  expect(await cellsOf(rowsOf(cells))).toEqual(cells);
  const repeated = cells.map(() => '"a\n');
  expect(await cellsOf(rowsOf(repeated))).toEqual(repeated);
});

test("a quote that is never closed is found behind thousands of such cells", async () => {
  const text = `${rowsOf(quotedCells(5_000))}"no end,b\nc"d,e\n`;
  await expect(cellsOf(text)).rejects.toThrow("a quote is opened in row 501 and never closed there");
});

test("the column is looked for in 262,144 characters of records, and in a row besides a longer header", async () => {
  let read = 0;
  async function* recordsOf(cells: readonly string[]) {
    for (read = 0; read < 500; ) {
      read += 1;
      yield [[...cells]];
    }
  }
  const lengths = [["a"], ["x".repeat(99_999)], new Array(100_000).fill(""), ["x".repeat(400_000)]];
  const counts: number[] = [];
  for (const cells of lengths) {
    const first = await firstRecords(recordsOf(cells));
    expect(first.length).toBe(read);
    counts.push(read);
  }
  expect(counts).toEqual([201, 3, 3, 2]);
});

test("8 times as many such cells in a piece take at most 24 times as long", async () => {
  const timeOf = async (count: number) => {
    const text = rowsOf(quotedCells(count));
    let bestMs = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 5; round += 1) {
      const begunMs = performance.now();
      for await (const _ of csvRecords("people.csv", wholeOf(text), FORM)) void _;
      bestMs = Math.min(bestMs, performance.now() - begunMs);
    }
    return bestMs;
  };
  const fewMs = await timeOf(2_500);
  expect(await timeOf(20_000)).toBeLessThan(24 * fewMs);
});

async function* wholeOf(text: string): AsyncGenerator<string> {
  yield text;
}
