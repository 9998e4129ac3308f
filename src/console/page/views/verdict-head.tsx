import { Badge } from "../parts/badge.tsx";
import { visible } from "../text/visible.ts";

/** A verdict beside what it is about, and in a sentence. */
export function VerdictHead({
  word,
  item,
  sentence,
}: {
  readonly word: string;
  readonly item: string;
  readonly sentence: string;
}) {
  return (
    <>
      <div class="verdict">
        <Badge word={word} />
        <code>{visible(item)}</code>
      </div>
      <p>{sentence}</p>
    </>
  );
}
