import type { TransactionSQL } from "bun";
import type { TextRow } from "../table-rows.ts";

export type TargetColumn = { readonly name: string; readonly type: string; readonly isIdentity: boolean };

/** Rows whose sizes are read at once: a number each. */
const SIZES_ROWS = 2_000;

/**
 * Reads a whole table as texts, in batches of at most `bytesMax`; a row that is larger is a batch of its own. The sizes of
 * rows are read ahead of them, as a kept reply may have 85 MB and its neighbours a few hundred bytes.
 */
export async function* readInBatches(
  sql: TransactionSQL,
  table: string,
  columns: readonly TargetColumn[],
  bytesMax: number,
): AsyncGenerator<readonly TextRow[]> {
  const texts = columns.map(({ name, type }) =>
    type === "boolean" ? `${name}::integer::text AS ${name}` : `${name}::text AS ${name}`,
  );
  // Both cursors then read the rows in one order.
  await sql.unsafe("SET LOCAL synchronize_seqscans = off");
  await sql.unsafe(
    `DECLARE sizes NO SCROLL CURSOR FOR SELECT ${columns.map(sizeOf).join(" + ")} FROM ${table}`,
  );
  await sql.unsafe(`DECLARE carried NO SCROLL CURSOR FOR SELECT ${texts.join(", ")} FROM ${table}`);
  for (;;) {
    const sizes: readonly (readonly [string])[] = await sql.unsafe(`FETCH ${SIZES_ROWS} FROM sizes`).values();
    for (const rows of countsOf(sizes, bytesMax)) {
      yield await sql.unsafe(`FETCH ${rows} FROM carried`).values();
    }
    if (sizes.length < SIZES_ROWS) break;
  }
  await sql.unsafe("CLOSE carried");
  await sql.unsafe("CLOSE sizes");
}

/** The bytes of a value as text. Those of a blob are known without reading it. */
function sizeOf({ name, type }: TargetColumn): string {
  return `coalesce(${type === "bytea" ? `2 + 2 * octet_length(${name})::bigint` : `octet_length(${name}::text)`}, 0)`;
}

/** Returns how many rows each batch has. */
function countsOf(sizes: readonly (readonly [string])[], bytesMax: number): readonly number[] {
  const counts: number[] = [];
  let rows = 0;
  let bytes = 0;
  for (const [size] of sizes) {
    if (rows > 0 && bytes + Number(size) > bytesMax) {
      counts.push(rows);
      rows = 0;
      bytes = 0;
    }
    rows += 1;
    bytes += Number(size);
  }
  return rows === 0 ? counts : [...counts, rows];
}
