import type { CheckResult } from "../contract/specification/service/service-replies.ts";
import type { Clock } from "../platform/clock.ts";

/** Returns the result of a check that passes unless the work throws, with what it took. */
export async function timedCheck(clock: Pick<Clock, "monotonic">, work: () => unknown): Promise<CheckResult> {
  const startedMs = clock.monotonic();
  await work();
  const observed = Math.round((clock.monotonic() - startedMs) * 100) / 100;
  return { status: "pass", observed, unit: "ms" };
}
