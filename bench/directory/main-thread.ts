import { readFileSync } from "node:fs";
import { BLOCKED_MS_MAX } from "./bounds.ts";
import { verdict } from "./figures.ts";

export type Gap = {
  /** The longest time in which the main thread took no other work. */
  readonly gapMs: number;
  /** How much of it the thread itself was at work, the rest being spent in wait for a core. */
  readonly busyMs: number;
  readonly tookMs: number;
};

export async function longestGap(work: () => Promise<unknown>): Promise<Gap> {
  let last = performance.now();
  let lastBusyMs = mainThreadBusyMs();
  let gapMs = 0;
  let busyMs = 0;
  const timer = setInterval(() => {
    const [now, busy] = [performance.now(), mainThreadBusyMs()];
    gapMs = Math.max(gapMs, now - last - 1);
    busyMs = Math.max(busyMs, busy - lastBusyMs);
    [last, lastBusyMs] = [now, busy];
  }, 1);
  const startedMs = performance.now();
  await work();
  await Bun.sleep(5);
  clearInterval(timer);
  return { gapMs, busyMs, tookMs: performance.now() - startedMs };
}

/** How long the main thread was ready to go on and had no core. */
export function mainThreadWaitedMs(): number {
  const [, waited = "0"] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ");
  return Number(waited) / 1e6;
}

/** CPU time of the main thread as Linux counts it. */
function mainThreadBusyMs(): number {
  const [ran = "0"] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ");
  return Number(ran) / 1e6;
}

export function gapText({ gapMs, busyMs }: Gap): string {
  const figures = `main thread blocked ${gapMs.toFixed(1)} ms at most, ${busyMs.toFixed(1)} ms of its own work`;
  return `${figures}: ${verdict(gapMs, BLOCKED_MS_MAX, "ms")}`;
}
