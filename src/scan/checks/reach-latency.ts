import { type Check, fail, notApplicable, pass, warn } from "../check.ts";

const PROBES_MIN = 5;

export const reachLatency: Check = {
  id: "reach.latency",
  title: "Replies come quickly",
  weight: 4,
  expected: "a median of at most 800 ms, seen from one place",
  fix: "Cache what can be cached, and serve from more regions.",
  find({ exchanges }) {
    const times = exchanges.flatMap(({ ms, status }) => (ms === null || status === null ? [] : [ms]));
    if (times.length < PROBES_MIN) return notApplicable(`${times.length} replies are too few`);
    times.sort((a, b) => a - b);
    const median = times[Math.floor(times.length / 2)] ?? 0;
    const observed = `a median of ${Math.round(median)} ms over ${times.length} replies`;
    if (median <= 800) return pass(null, observed);
    return median <= 2500 ? warn(null, observed) : fail(null, observed);
  },
};
