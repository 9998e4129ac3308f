import { setImmediate as nextTurn } from "node:timers/promises";

// The runtime's own server, which reads each body part by part, lets other work in between, and does nothing with it.

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch({ body }) {
    let bytes = 0;
    for await (const part of body ?? []) {
      bytes += part.byteLength;
      await nextTurn();
    }
    return Response.json(bytes);
  },
});
process.stdout.write(`The bare server listens on ${server.url.origin}\n`);
