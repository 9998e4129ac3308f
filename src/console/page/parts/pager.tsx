import type { Paging } from "../state/use-paging.ts";

/** The steps to the pages before and behind; nothing where there is only one. */
export function Pager({
  paging,
  next,
  back = "Newer",
  on = "Older",
}: {
  readonly paging: Paging;
  /** The cursor of the next page; null on the last. */
  readonly next: string | null;
  readonly back?: string;
  readonly on?: string;
}) {
  const isFirst = paging.cursor === undefined;
  if (isFirst && next === null) return null;
  return (
    <div class="row">
      <button type="button" class="button small" disabled={isFirst} onClick={paging.goBack}>
        {back}
      </button>
      <button
        type="button"
        class="button small"
        disabled={next === null}
        onClick={() => next !== null && paging.goOn(next)}
      >
        {on}
      </button>
    </div>
  );
}
