import { setImmediate as nextTurn } from "node:timers/promises";
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

type Cutting = (tell: (event: SplitEvent) => void) => Promise<SplitOutcome> | SplitOutcome;

/**
 * Begins to cut a body, and answers as soon as it is known what it is. Where the cutting begins anew, as after the end
 * of its thread, it tells the same once more; that is passed over.
 */
export async function beginCut(cutting: Cutting): Promise<CutOutcome> {
  const receiver = createReceiver();
  void follow(cutting, receiver);
  return await receiver.outcome;
}

async function follow(cutting: Cutting, { tell, end, fail }: Receiver): Promise<void> {
  try {
    end(await cutting(tell));
  } catch (error) {
    fail(error);
  }
}

type Receiver = ReturnType<typeof createReceiver>;

/** Knows nothing of the cutting, which holds the body: chunks are taken for as long as the reply is read. */
function createReceiver() {
  const outcome = Promise.withResolvers<CutOutcome>();
  const totals = Promise.withResolvers<BatchTotals>();
  // Whoever takes the chunks or the totals hears of it.
  totals.promise.catch(() => undefined);
  const waiting: Chunk[] = [];
  let itemsExpected: number | null = null;
  let itemsReceived = 0;
  let hasEnded = false;
  let arrival = Promise.withResolvers<void>();

  function tell(event: SplitEvent): void {
    if ("head" in event) {
      itemsExpected = event.head.count;
      const cut = { ...event.head, chunks: received(), totals: totals.promise, hasEnded: () => hasEnded };
      outcome.resolve({ ok: true, ...cut });
      return;
    }
    for (const chunk of event.chunks) {
      if (chunk.position !== itemsReceived) continue;
      waiting.push(chunk);
      itemsReceived += chunk.count;
    }
    arrival.resolve();
    arrival = Promise.withResolvers();
  }

  async function* received(): AsyncGenerator<Chunk, void, undefined> {
    for (;;) {
      for (let chunk = waiting.shift(); chunk !== undefined; chunk = waiting.shift()) {
        yield chunk;
        // Each is some work for this thread: other calls get in between.
        if (waiting.length > 0) await nextTurn();
      }
      if (hasEnded) break;
      await arrival.promise;
    }
    await totals.promise;
  }

  function end(last: SplitOutcome): void {
    if (!last.ok) {
      outcome.resolve(last);
      fail(new Error(last.message));
    } else if (itemsReceived !== itemsExpected) {
      fail(new Error(`${itemsReceived} items of ${itemsExpected} were cut`));
    } else {
      totals.resolve({ distinct: last.distinct });
      close();
    }
  }

  function fail(error: unknown): void {
    outcome.reject(error);
    totals.reject(error);
    close();
  }

  function close(): void {
    hasEnded = true;
    arrival.resolve();
  }

  return { outcome: outcome.promise, tell, end, fail };
}
