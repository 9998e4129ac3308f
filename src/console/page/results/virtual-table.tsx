import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { nounOf } from "../../../contract/noun.ts";
import { countOf } from "../text/format.ts";

export type VirtualColumn<Row> = {
  readonly head: string;
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
};

const ROW_PX = 36;
const ROWS_IN_VIEW = 14;
/** Browsers draw nothing right below some 17 million pixels; longer tables scroll in proportion. */
const HEIGHT_PX_MAX = 12_000_000;

/** A table that draws the rows in view alone, however many there are. */
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
  /** Of the longest number of a row, which the column of the numbers is as wide as. */
  readonly digits: number;
  readonly rowCount: number;
  /** The row at a place from 0; null while it is not there yet. */
  readonly rowAt: (at: number) => Row | null;
  /** Called with the rows that are in view. */
  readonly onView: (first: number, count: number) => void;
}) {
  const frame = useRef<HTMLElement>(null);
  const [top, setTop] = useState(0);
  /** A scroll position that was set here, not by the visitor. */
  const own = useRef(-1);
  const shown = Math.min(ROWS_IN_VIEW, rowCount);
  const lastTop = Math.max(0, rowCount - shown);
  const height = Math.min(HEIGHT_PX_MAX, rowCount * ROW_PX);
  const isScaled = rowCount * ROW_PX > HEIGHT_PX_MAX;
  const range = Math.max(1, height - shown * ROW_PX);
  const first = Math.min(lastTop, Math.floor(top));

  useEffect(() => {
    if (top > lastTop) setTop(lastTop);
  }, [lastTop]);
  useEffect(() => onView(first, shown + 1), [first, shown, onView]);

  const goTo = (place: number) => {
    const next = Math.min(lastTop, Math.max(0, place));
    setTop(next);
    if (frame.current === null) return;
    own.current = Math.round((next / Math.max(1, lastTop)) * range);
    frame.current.scrollTop = own.current;
  };
  const follow = () => {
    const at = frame.current?.scrollTop ?? 0;
    if (Math.abs(at - own.current) <= 1) return;
    own.current = -1;
    setTop(Math.min(lastTop, (at / range) * lastTop));
  };
  const wheel = (event: WheelEvent) => {
    if (!isScaled || event.ctrlKey) return;
    event.preventDefault();
    goTo(top + event.deltaY / ROW_PX);
  };
  const step = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const places: { readonly [key: string]: number } = {
      ArrowDown: first + 1,
      ArrowUp: first - 1,
      PageDown: first + shown,
      PageUp: first - shown,
      Home: 0,
      End: lastTop,
    };
    const place = places[event.key];
    if (place === undefined) return;
    event.preventDefault();
    goTo(place);
  };
  const places = Array.from({ length: Math.min(shown + 1, rowCount - first) }, (_, at) => first + at);
  return (
    <div class="virtual">
      <section
        class="virtual-frame"
        aria-label={`${caption}: arrow keys, Page Up, Page Down, Home and End go through ${countOf(rowCount)} ${nounOf(rowCount, "row")}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be within reach of the keyboard
        tabIndex={0}
        style={{ "--rows": shown }}
        ref={frame}
        onScroll={follow}
        onWheel={wheel}
        onKeyDown={step}
      >
        <div class="virtual-height" style={{ height: `${height + ROW_PX}px`, "--digits": digits }}>
          {/* biome-ignore lint/a11y/useSemanticElements: a table element cannot lay its rows out by themselves */}
          <div class="virtual-rows" role="table" aria-label={caption} aria-rowcount={rowCount + 1}>
            {/* biome-ignore lint/a11y/useSemanticElements: as above */}
            {/* biome-ignore lint/a11y/useFocusableInteractive: a row of text */}
            <div class="virtual-row virtual-head" role="row" aria-rowindex={1}>
              {columns.map(({ head, name }) => (
                // biome-ignore lint/a11y/useSemanticElements: as above
                // biome-ignore lint/a11y/useFocusableInteractive: a cell of text
                <span key={name} role="columnheader" class={`virtual-cell cell-${name}`}>
                  {head}
                </span>
              ))}
            </div>
            {places.map((at) => {
              const row = rowAt(at);
              return (
                // biome-ignore lint/a11y/useSemanticElements: as above
                // biome-ignore lint/a11y/useFocusableInteractive: a row of text
                <div key={at} class="virtual-row" role="row" aria-rowindex={at + 2}>
                  {columns.map(({ name, cell }) => (
                    // biome-ignore lint/a11y/useSemanticElements: as above
                    <span key={name} role="cell" class={`virtual-cell cell-${name}`}>
                      {row === null ? <i class="waiting" /> : cell(row)}
                    </span>
                  ))}
                </div>
              );
            })}
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
