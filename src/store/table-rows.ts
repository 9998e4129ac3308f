/** A row as texts, in the order of its table's columns; null where it has no value. */
export type TextRow = readonly (string | null)[];

/** How many rows a table has, and a sum over what is in them that does not depend on their order. */
export type TableSum = { readonly rows: number; readonly sum: string };

const WRAP = 1n << 64n;

/** Adds rows up, so that two tables can be held against each other without being in one place. */
export function createTableSum(): {
  readonly add: (row: TextRow) => void;
  readonly result: () => TableSum;
} {
  let rows = 0;
  let sum = 0n;
  return {
    add: (row) => {
      rows += 1;
      sum = (sum + BigInt(Bun.hash(JSON.stringify(row)))) % WRAP;
    },
    result: () => ({ rows, sum: sum.toString(16).padStart(16, "0") }),
  };
}

/** A table to be carried from one store to another. */
export type TableSource = {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: () => Iterable<TextRow>;
};
