import { momentOf } from "../text/format.ts";

/** A moment in the visitor's locale; a dash where it is missing. */
export function Moment({
  at,
  none = "–",
}: {
  readonly at: string | null | undefined;
  readonly none?: string;
}) {
  if (at === null || at === undefined) return <>{none}</>;
  return <time dateTime={at}>{momentOf(at)}</time>;
}
