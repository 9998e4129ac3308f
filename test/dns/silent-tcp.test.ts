import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createStubResolver } from "../../src/dns/resolver.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { serverAddress } from "../support/dns-server.ts";
import { freePort } from "../support/free-port.ts";

/** A server that answers by UDP, and by TCP not even with a refusal, as behind a firewall that drops it. */

const QUESTIONS = 200;
/** Listens without a place in its queue, and connects to itself once: the system answers no further SYN. */
const FULL_LISTENER = `
import socket, sys
full = socket.socket()
full.bind(("127.0.0.1", int(sys.argv[1])))
full.listen(0)
first = socket.create_connection(full.getsockname())
print("full", flush=True)
sys.stdin.read()
`;
const TRUNCATED_REPLY = 0x8380;
/** Of /proc/net/tcp. */
const SYN_SENT = "02";

async function startSilentListener(port: number) {
  const child = Bun.spawn(["python3", "-c", FULL_LISTENER, `${port}`], { stdin: "pipe", stdout: "pipe" });
  await child.stdout.getReader().read();
  return {
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

/** Answers every query as truncated. */
async function startTruncatingServer(port: number) {
  const socket = await Bun.udpSocket({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(server, query, from, address) {
        const reply = Buffer.from(query);
        reply.writeUInt16BE(TRUNCATED_REPLY, 2);
        server.send(reply, from, address);
      },
    },
  });
  return { [Symbol.dispose]: () => socket.close() };
}

/** Returns how many connections to the port are not open yet. */
function connectingTo(port: number): number {
  const remote = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const connections = readFileSync("/proc/net/tcp", "utf8").split("\n");
  return connections.filter((line) => {
    const [, , to, state] = line.trim().split(/\s+/);
    return to === remote && state === SYN_SENT;
  }).length;
}

// The table of connections is that of Linux.
test.skipIf(process.platform !== "linux")(
  "a question that is given up leaves no connection behind that is not open yet",
  async () => {
    const port = await freePort();
    await using _listener = await startSilentListener(port);
    using _server = await startTruncatingServer(port);
    const resolver = createStubResolver({
      servers: [serverAddress(`127.0.0.1:${port}`)],
      clock: systemClock,
      attemptTimeoutsMs: [200, 200],
      lookupTimeoutMs: 1000,
    });
    let connectingMax = 0;
    const watch = setInterval(() => {
      connectingMax = Math.max(connectingMax, connectingTo(port));
    }, 10);
    const names = Array.from({ length: QUESTIONS }, (_, at) => `long${at}.com`);
    const lookups = await Promise.all(names.map((name) => resolver.lookUp(name, "TXT")));
    clearInterval(watch);
    expect(new Set(lookups.map(({ outcome }) => outcome))).toEqual(new Set(["timeout"]));
    expect(connectingMax).toBeGreaterThan(0);
    // Sockets are closed by the end of the turn.
    await new Promise(setImmediate);
    expect(connectingTo(port)).toBe(0);
    resolver.close();
  },
);
