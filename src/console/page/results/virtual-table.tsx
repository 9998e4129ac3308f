import type { ComponentChildren } from "preact";
import { nounOf } from "../../../contract/noun.ts";
import { countOf } from "../text/format.ts";
import { ROW_PX, useRowScroll } from "./row-scroll.ts";

export type VirtualColumn<Row> = {
  readonly head: string;
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
};

/** A table that draws only the rows in view, however many there are. */
export function VirtualTable<Row>({
  caption,
  columns,
  digits,
  rowCount,
  rowAt,
  onView,
}: {
  readonly caption: string;
  readonly columns: readonly VirtualColumn<Row>[];
  /** Digits of the longest row number: the width of its column. */
  readonly digits: number;
  readonly rowCount: number;
  /** The row at a position from 0; null while it is not loaded. */
  readonly rowAt: (at: number) => Row | null;
  /** Called with the rows that are in view. */
  readonly onView: (first: number, count: number) => void;
}) {
  const { frame, first, shown, heightPx, ...handlers } = useRowScroll(rowCount, onView);
  const rows = Array.from({ length: Math.min(shown + 1, rowCount - first) }, (_, at) => first + at);
  return (
    <div class="virtual">
      <section
        class="virtual-frame"
        aria-label={`${caption}: arrow keys, Page Up, Page Down, Home and End go through ${countOf(rowCount)} ${nounOf(rowCount, "row")}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be within reach of the keyboard
        tabIndex={0}
        style={{ "--rows": shown }}
        ref={frame}
        {...handlers}
      >
        <div class="virtual-height" style={{ height: `${heightPx + ROW_PX}px`, "--digits": digits }}>
          {/* biome-ignore lint/a11y/useSemanticElements: a table element cannot lay its rows out by themselves */}
          <div class="virtual-rows" role="table" aria-label={caption} aria-rowcount={rowCount + 1}>
            <HeadRow columns={columns} />
            {rows.map((at) => (
              <BodyRow key={at} columns={columns} at={at} row={rowAt(at)} />
            ))}
          </div>
        </div>
      </section>
      <p class="virtual-place">
        Rows {countOf(rowCount === 0 ? 0 : first + 1)} to {countOf(Math.min(rowCount, first + shown))} of{" "}
        {countOf(rowCount)}
      </p>
    </div>
  );
}

// biome-ignore-start lint/a11y/useSemanticElements: a table element cannot lay its rows out by themselves
// biome-ignore-start lint/a11y/useFocusableInteractive: rows and cells of text

function HeadRow<Row>({ columns }: { readonly columns: readonly VirtualColumn<Row>[] }) {
  return (
    <div class="virtual-row virtual-head" role="row" aria-rowindex={1}>
      {columns.map(({ head, name }) => (
        <span key={name} role="columnheader" class={`virtual-cell cell-${name}`}>
          {head}
        </span>
      ))}
    </div>
  );
}

/** The row at a position from 0, or a placeholder while it is not loaded. */
function BodyRow<Row>({
  columns,
  at,
  row,
}: {
  readonly columns: readonly VirtualColumn<Row>[];
  readonly at: number;
  readonly row: Row | null;
}) {
  return (
    <div class="virtual-row" role="row" aria-rowindex={at + 2}>
      {columns.map(({ name, cell }) => (
        <span key={name} role="cell" class={`virtual-cell cell-${name}`}>
          {row === null ? <i class="waiting" /> : cell(row)}
        </span>
      ))}
    </div>
  );
}

// biome-ignore-end lint/a11y/useFocusableInteractive: as above
// biome-ignore-end lint/a11y/useSemanticElements: as above
