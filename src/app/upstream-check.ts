import type { Check } from "../http/routes/health.ts";
import type { Upstreams } from "../inference/upstreams.ts";
import type { Clock } from "../platform/clock.ts";
import { createReach, type Reached } from "./reach.ts";

/** Passes while every upstream replies and is in use, warns while one of them is still, or has never replied. */
export function upstreamCheck(
  upstreams: Pick<Upstreams, "states" | "isHeard">,
  clock: Pick<Clock, "monotonic">,
): Check {
  const reaches = upstreams
    .states()
    .map(({ baseUrl }) => createReach(clock, (signal) => upstreams.isHeard(baseUrl, signal)));
  return {
    fallback: "warn",
    run: async (signal) => {
      const reached = await Promise.all(reaches.map((reach) => reach(signal)));
      const seen = upstreams.states().map(({ isOpen, hasAnswered }, position): Reached => {
        if (isOpen) return "missed";
        const state = reached[position] ?? "doubtful";
        // One that answers calls may be too busy for questions.
        return state === "missed" && hasAnswered ? "doubtful" : state;
      });
      const inUse = seen.filter((state) => state !== "missed").length;
      const found = { observed: inUse, unit: "upstreams" };
      if (inUse === 0) return { ...found, status: "fail", output: "No upstream answers." };
      if (seen.every((state) => state === "reached")) return { ...found, status: "pass" };
      return { ...found, status: "warn", output: "Upstreams did not answer." };
    },
  };
}
