import { useState } from "preact/hooks";

/** A way through a list whose pages are found by the cursor of the page before. */
export type Paging = {
  /** Of the page that is shown; undefined for the first. */
  readonly cursor: string | undefined;
  readonly goBack: () => void;
  readonly goOn: (cursor: string) => void;
  readonly restart: () => void;
};

/** Begins at the first page. */
export function usePaging(): Paging {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  return {
    cursor: cursors.at(-1),
    goBack: () => setCursors(cursors.slice(0, -1)),
    goOn: (cursor) => setCursors([...cursors, cursor]),
    restart: () => setCursors([]),
  };
}
