/**
 * Passes every call on to the address of the first argument, and its reply back, as plainly as the runtime can: what a
 * relay costs that does nothing else. Prints its own address.
 */
const [upstream = ""] = process.argv.slice(2);
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const headers = { "Content-Type": "application/json" };
    const { body } = await fetch(upstream, { method: "POST", headers, body: await request.text() });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  },
});
process.stdout.write(`listens on ${server.url.origin}\n`);
