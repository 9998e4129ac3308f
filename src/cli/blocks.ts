import type { Row } from "../tables/rows.ts";

/** A run of rows that is verified and written as one. */
export type Block = {
  /** Counted from 0 at the start of the input. */
  readonly firstRow: number;
  readonly rows: readonly Row[];
  /** Input read when the block was whole. */
  readonly bytesRead: number;
  /** An earlier run has written it. */
  readonly isDone: boolean;
};

export type BlockSettings = {
  readonly blockRows: number;
  /** Rows that are done. */
  readonly from: number;
  readonly bytesRead: () => number;
};

/** Cuts rows into blocks of one size; one ends where the work of an earlier run ended. */
export async function* blocksOf(
  runs: AsyncIterable<readonly Row[]>,
  { blockRows, from, bytesRead }: BlockSettings,
): AsyncGenerator<Block, void, undefined> {
  let firstRow = 0;
  let rows: Row[] = [];
  const sizeHere = () => (firstRow < from ? Math.min(blockRows, from - firstRow) : blockRows);
  const take = (): Block => {
    const block = { firstRow, rows, bytesRead: bytesRead(), isDone: firstRow < from };
    firstRow += rows.length;
    rows = [];
    return block;
  };
  for await (const run of runs) {
    for (const row of run) {
      rows.push(row);
      if (rows.length === sizeHere()) yield take();
    }
  }
  if (rows.length > 0) yield take();
}
