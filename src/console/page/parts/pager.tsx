import type { Paging } from "../state/use-paging.ts";
import { Button } from "./button.tsx";

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
      <Button look="small" isOff={isFirst} onPress={paging.goBack}>
        {back}
      </Button>
      <Button look="small" isOff={next === null} onPress={() => next !== null && paging.goOn(next)}>
        {on}
      </Button>
    </div>
  );
}
