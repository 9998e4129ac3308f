import type { Check } from "../http/routes/health.ts";
import type { Clock } from "../platform/clock.ts";
import { timedCheck } from "./timed-check.ts";

/** Passes while a database takes a write, and says how long it took. */
export function databaseCheck(
  { probe }: { readonly probe: () => unknown },
  clock: Pick<Clock, "monotonic">,
): Check {
  return { fallback: "fail", run: () => timedCheck(clock, probe) };
}
