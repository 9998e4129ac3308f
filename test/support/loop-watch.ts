import { readFileSync } from "node:fs";

/**
 * Loaded before the server starts, measures the longest time that its main thread worked without a turn of the event
 * loop, in CPU time of that thread, so that what else the machine does does not count. Serves it on a port that is
 * written to `TEST_LOOP_WATCH_FILE`, and begins anew each time it is asked.
 */

// The address of the main thread, whose id is that of the process.
const SCHEDSTAT = `/proc/self/task/${process.pid}/schedstat`;
const PERIOD_MS = 1;

const cpuMs = () => Number(readFileSync(SCHEDSTAT, "latin1").split(" ")[0]) / 1e6;

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
