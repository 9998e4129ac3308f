import type { pause } from "../../../platform/pause.ts";
import { mayPass } from "../wire/refusal.ts";

const RETRY_MS = 1_000;
const RETRY_MAX_MS = 10_000;

/** Repeats what may be repeated until the server answers, after pauses of up to ten seconds. */
export async function untilAnswered<Value>(
  { signal, wait }: { readonly signal: AbortSignal; readonly wait: typeof pause },
  work: (isAgain: boolean) => Promise<Value>,
): Promise<Value> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work(attempt > 0);
    } catch (error) {
      if (!mayPass(error) || signal.aborted) throw error;
      await wait(Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** attempt), signal);
      signal.throwIfAborted();
    }
  }
}
