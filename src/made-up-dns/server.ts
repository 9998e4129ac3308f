import type { Send } from "./replies.ts";
import { createResponder, type Take } from "./responder.ts";
import { parseZone, readFault } from "./zone-text.ts";

/**
 * A DNS server with a made-up DNS, by UDP and TCP on one port of this machine: for the demonstration, the benches
 * and the tests, which none of them need a network then.
 */
export type FixtureServer = AsyncDisposable & {
  /** `127.0.0.1:5353`, as the DNS_SERVERS setting takes it. */
  readonly address: string;
  readonly port: number;
  /** Replaces the whole zone. */
  readonly setZone: (zone: string) => void;
  /** Puts a fault, written as in a zone (`!silent`, `!delay 300`), on every question; null takes it off. */
  readonly setFault: (fault: string | null) => void;
  /** How many questions came, by UDP and TCP: all, or those for one name, or for one name and type. */
  readonly queryCount: (name?: string, type?: string) => number;
  readonly tcpQueryCount: () => number;
  readonly resetCounts: () => void;
  readonly close: () => Promise<void>;
};

const PORT_ATTEMPTS = 20;

/**
 * Starts a server on 127.0.0.1, on a free port unless one is given.
 *
 * @example
 * await using server = await startFixtureServer({ zone: "example.com MX 10 mx.example.com" });
 */
export async function startFixtureServer(options: {
  readonly zone: string;
  readonly hostname?: string;
  readonly port?: number;
}): Promise<FixtureServer> {
  const hostname = options.hostname ?? "127.0.0.1";
  const responder = createResponder(parseZone(options.zone));
  const listeners = await listen(hostname, options.port ?? 0, responder.take);
  const close = async () => {
    responder.close();
    listeners.close();
  };
  return {
    address: hostname.includes(":") ? `[${hostname}]:${listeners.port}` : `${hostname}:${listeners.port}`,
    port: listeners.port,
    setZone: (zone) => responder.setZone(parseZone(zone)),
    setFault: (fault) => responder.setFault(fault === null ? null : readFault(fault.split(" "))),
    queryCount: responder.queryCount,
    tcpQueryCount: responder.tcpQueryCount,
    resetCounts: responder.resetCounts,
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function listen(hostname: string, port: number, take: Take) {
  for (let attempt = 1; ; attempt++) {
    const udp = await listenUdp(hostname, port, take);
    try {
      const tcp = listenTcp(hostname, udp.port, take);
      const close = () => {
        udp.close();
        tcp.stop(true);
      };
      return { port: udp.port, close };
    } catch (error) {
      udp.close();
      if (port !== 0 || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

async function listenUdp(hostname: string, port: number, take: Take) {
  const quiet = { error: () => {} };
  const elsewhere = await Bun.udpSocket({ hostname, port: 0, socket: quiet });
  const sendBy =
    (socket: Bun.udp.Socket<"buffer">, toPort: number, toAddress: string): Send =>
    (message) => {
      try {
        if (!socket.closed) socket.send(message, toPort, toAddress);
      } catch {
        // The client is gone.
      }
    };
  const socket = await Bun.udpSocket({
    hostname,
    port,
    socket: {
      ...quiet,
      data: (from, message, toPort, toAddress) =>
        take(message, false, sendBy(from, toPort, toAddress), sendBy(elsewhere, toPort, toAddress), () => {}),
    },
  });
  const close = () => {
    socket.close();
    elsewhere.close();
  };
  return { port: socket.port, close };
}

function listenTcp(hostname: string, port: number, take: Take) {
  return Bun.listen<{ received: Buffer }>({
    hostname,
    port,
    socket: {
      open: (socket) => {
        socket.data = { received: Buffer.alloc(0) };
      },
      data: (socket, chunk) => {
        const state = socket.data;
        state.received = Buffer.concat([state.received, chunk]);
        while (state.received.length >= 2) {
          const end = 2 + state.received.readUInt16BE(0);
          if (state.received.length < end) return;
          const message = state.received.subarray(2, end);
          state.received = state.received.subarray(end);
          take(
            message,
            true,
            (reply) => socket.write(framed(reply)),
            () => {},
            () => socket.end(),
          );
        }
      },
      error: () => {},
    },
  });
}

function framed(message: Uint8Array): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length, 0);
  return Buffer.concat([length, message]);
}
