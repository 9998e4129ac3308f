import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export const ROW_PX = 36;
/** Rows that a table shows at once, at most. */
export const ROWS_IN_VIEW = 14;
/** Browsers draw nothing right below some 17 million pixels; longer tables scroll in proportion. */
const HEIGHT_PX_MAX = 12_000_000;

/** Which rows of a long table are in view, and what moves them. */
export type RowScroll = {
  readonly frame: RefObject<HTMLElement | null>;
  /** The first row in view, from 0. */
  readonly first: number;
  /** Rows in view. */
  readonly shown: number;
  /** Of all rows, without the head. */
  readonly heightPx: number;
  readonly onScroll: () => void;
  readonly onWheel: (event: WheelEvent) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
};

/** Follows the scroll bar, the wheel and the keys of a table. `onView` is called with the rows that are in view. */
export function useRowScroll(rowCount: number, onView: (first: number, count: number) => void): RowScroll {
  const frame = useRef<HTMLElement>(null);
  const [top, setTop] = useState(0);
  /** A scroll position that was set here, not by the visitor. */
  const own = useRef(-1);
  const shown = Math.min(ROWS_IN_VIEW, rowCount);
  const lastTop = Math.max(0, rowCount - shown);
  const heightPx = Math.min(HEIGHT_PX_MAX, rowCount * ROW_PX);
  const isScaled = rowCount * ROW_PX > HEIGHT_PX_MAX;
  const range = Math.max(1, heightPx - shown * ROW_PX);
  const first = Math.min(lastTop, Math.floor(top));

  useEffect(() => {
    if (top > lastTop) setTop(lastTop);
  }, [lastTop]);
  useEffect(() => onView(first, shown + 1), [first, shown, onView]);

  const goTo = (row: number) => {
    const next = Math.min(lastTop, Math.max(0, row));
    setTop(next);
    if (frame.current === null) return;
    own.current = Math.round((next / Math.max(1, lastTop)) * range);
    frame.current.scrollTop = own.current;
  };

  return {
    frame,
    first,
    shown,
    heightPx,
    onScroll() {
      const at = frame.current?.scrollTop ?? 0;
      if (Math.abs(at - own.current) <= 1) return;
      own.current = -1;
      setTop(Math.min(lastTop, (at / range) * lastTop));
    },
    onWheel(event) {
      if (!isScaled || event.ctrlKey) return;
      event.preventDefault();
      goTo(top + event.deltaY / ROW_PX);
    },
    onKeyDown(event) {
      if (event.target !== event.currentTarget) return;
      const row = rowFor(event.key, first, shown, lastTop);
      if (row === undefined) return;
      event.preventDefault();
      goTo(row);
    },
  };
}

/** Returns the first row in view after a key; undefined for keys that do not scroll. */
function rowFor(key: string, first: number, shown: number, lastTop: number): number | undefined {
  const rows: { readonly [key: string]: number } = {
    ArrowDown: first + 1,
    ArrowUp: first - 1,
    PageDown: first + shown,
    PageUp: first - shown,
    Home: 0,
    End: lastTop,
  };
  return rows[key];
}
