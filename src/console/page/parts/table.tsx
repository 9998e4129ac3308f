import type { ComponentChildren } from "preact";

export type Column<Row> = {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
  /** The cells are buttons: at the end of the row, and without their head on a narrow screen. */
  readonly isActions?: boolean;
};

/** The roles of a table, which browsers drop when a style sheet changes its layout. */
const TABLE = { role: "table" } as const;
const GROUP = { role: "rowgroup" } as const;
const ROW = { role: "row" } as const;
const HEAD = { role: "columnheader" } as const;
const CELL = { role: "cell" } as const;
/** With fewer columns a table fits every screen. */
const STACKED_COLUMNS_MIN = 3;

function classOf({ isNumber = false, isActions = false }: Column<never>): string | undefined {
  return isNumber ? "number" : isActions ? "actions" : undefined;
}

/** A table. On a narrow screen each row is a stack of cells, each with its head. */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  empty,
  isCompact = false,
}: {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly empty?: ComponentChildren;
  /** Whether the columns fit a narrow screen without the last one, which is omitted there. */
  readonly isCompact?: boolean;
}) {
  if (rows.length === 0 && empty !== undefined) return <div class="empty">{empty}</div>;
  return (
    <section
      class={isCompact ? "table compact" : columns.length >= STACKED_COLUMNS_MIN ? "table stacked" : "table"}
      aria-label={caption}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be within reach of the keyboard
      tabIndex={0}
    >
      <table {...TABLE}>
        <caption class="unseen">{caption}</caption>
        <thead {...GROUP}>
          <tr {...ROW}>
            {columns.map((column) => (
              <th key={column.head} scope="col" {...HEAD} class={classOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody {...GROUP}>
          {rows.map((row) => (
            <tr key={keyOf(row)} {...ROW}>
              {columns.map((column) => (
                <td key={column.head} {...CELL} data-head={column.head} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
