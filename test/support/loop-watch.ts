import { dlopen } from "bun:ffi";

/**
 * Loaded before the server starts, measures the longest time that its main thread worked without a turn of the event
 * loop, in CPU time of that thread, so that what else the machine does does not count. Serves it on a port that is
 * written to `TEST_LOOP_WATCH_FILE`, and begins anew each time it is asked.
 */

// What /proc reports of a thread's time lags behind by a tick of the kernel's clock, 4 or 10 ms; this does not.
const CLOCK_THREAD_CPUTIME_ID = 3;
const { symbols } = dlopen("libc.so.6", { clock_gettime: { args: ["i32", "ptr"], returns: "i32" } });
const time = new BigInt64Array(2);
const PERIOD_MS = 1;

function cpuMs(): number {
  symbols.clock_gettime(CLOCK_THREAD_CPUTIME_ID, time);
  const [seconds = 0n, nanoseconds = 0n] = time;
  return Number(seconds) * 1e3 + Number(nanoseconds) / 1e6;
}

let lastMs = cpuMs();
let longestMs = 0;
function turn(): void {
  const nowMs = cpuMs();
  longestMs = Math.max(longestMs, nowMs - lastMs);
  lastMs = nowMs;
}
setInterval(turn, PERIOD_MS).unref();

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch() {
    turn();
    const readMs = longestMs;
    longestMs = 0;
    return Response.json(readMs);
  },
});
server.unref();
await Bun.write(process.env.TEST_LOOP_WATCH_FILE ?? "", server.url.href);
