import type { ResultRow } from "../wire/bodies.ts";
import { unbroken } from "../wire/refusal.ts";

/**
 * Yields the results of an NDJSON reply in groups as they arrive; the last line needs no line end. Throws Unreachable where
 * the reply breaks off.
 */
export async function* resultsOf(reply: Response): AsyncGenerator<readonly ResultRow[], void, undefined> {
  if (reply.body === null) return;
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await unbroken(reader.read());
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      yield lines.map((line) => JSON.parse(line) as ResultRow);
    }
    if (rest !== "") yield [JSON.parse(rest)];
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Yields the results one by one. */
export async function* eachOf(
  results: AsyncIterable<readonly ResultRow[]>,
): AsyncGenerator<ResultRow, void, undefined> {
  for await (const some of results) yield* some;
}
