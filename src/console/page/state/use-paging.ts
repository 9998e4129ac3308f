import { useState } from "preact/hooks";

/** The pages of a list, each found by the cursor of the page before. */
export type Paging = {
  /** The cursor of the current page; undefined for the first. */
  readonly cursor: string | undefined;
  readonly goBack: () => void;
  readonly goOn: (cursor: string) => void;
  readonly restart: () => void;
};

/** Starts at the first page. */
export function usePaging(): Paging {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  return {
    cursor: cursors.at(-1),
    goBack: () => setCursors(cursors.slice(0, -1)),
    goOn: (cursor) => setCursors([...cursors, cursor]),
    restart: () => setCursors([]),
  };
}
