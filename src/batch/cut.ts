import type { BatchHead, BatchTotals, Chunk, SplitEvent, SplitOutcome } from "./messages.ts";

/** A batch that is being cut. */
export type Cut = BatchHead & {
  /** Each as soon as it is there. Throws where the cutting fails. To be gone through once. */
  readonly chunks: AsyncIterable<Chunk>;
  /** Known when the last chunk is there. */
  readonly totals: Promise<BatchTotals>;
  /** Whether the last chunk is there, or no more will come. */
  readonly hasEnded: () => boolean;
};

/** A batch that is being cut, or the refusal of its body. */
export type CutOutcome = ({ readonly ok: true } & Cut) | Extract<SplitOutcome, { ok: false }>;

/**
 * Begins to cut a body, and answers as soon as it is known what it is. Where `work` begins anew, as after the end of
 * its thread, it tells the same once more; that is passed over.
 */
export async function beginCut(
  work: (tell: (event: SplitEvent) => void) => Promise<SplitOutcome> | SplitOutcome,
): Promise<CutOutcome> {
  const began = Promise.withResolvers<CutOutcome>();
  const whole = Promise.withResolvers<BatchTotals>();
  // Whoever takes the chunks or the totals hears of it.
  whole.promise.catch(() => undefined);
  const chunks: Chunk[] = [];
  let itemsTold = 0;
  let hasEnded = false;
  let news = Promise.withResolvers<void>();

  function tell(event: SplitEvent): void {
    if ("head" in event) {
      began.resolve({
        ok: true,
        ...event.head,
        chunks: told(),
        totals: whole.promise,
        hasEnded: () => hasEnded,
      });
      return;
    }
    for (const chunk of event.chunks) {
      if (chunk.position !== itemsTold) continue;
      chunks.push(chunk);
      itemsTold += chunk.count;
    }
    news.resolve();
    news = Promise.withResolvers();
  }

  async function* told(): AsyncGenerator<Chunk, void, undefined> {
    for (;;) {
      for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) yield chunk;
      if (hasEnded) break;
      await news.promise;
    }
    await whole.promise;
  }

  async function cut(): Promise<void> {
    try {
      const outcome = await work(tell);
      if (outcome.ok) whole.resolve({ distinct: outcome.distinct });
      else {
        began.resolve(outcome);
        whole.reject(new Error(outcome.message));
      }
    } catch (error) {
      began.reject(error);
      whole.reject(error);
    } finally {
      hasEnded = true;
      news.resolve();
    }
  }

  void cut();
  return await began.promise;
}
