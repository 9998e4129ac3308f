/**
 * Calls an address again and again until stopped, in a process of its own, so that what keeps the test busy
 * does not count as the server's time. Prints the number of calls and the slowest, in ms.
 */
const [url = ""] = process.argv.slice(2);
let running = true;
process.on("SIGTERM", () => {
  running = false;
});
let calls = 0;
let slowestMs = 0;
await (await fetch(url)).text();
process.stdout.write("ready\n");
while (running && calls < 100_000) {
  const startedMs = performance.now();
  await (await fetch(url)).text();
  slowestMs = Math.max(slowestMs, performance.now() - startedMs);
  calls += 1;
  await Bun.sleep(5);
}
process.stdout.write(`${JSON.stringify({ calls, slowestMs })}\n`);
