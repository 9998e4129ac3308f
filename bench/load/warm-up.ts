import { singlesRound } from "./singles.ts";

const REPLY = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
const ROUND = { kind: "singles", traffic: { kind: "warm" }, spin: false, rounds: 1, roundMs: 300 } as const;
const CONNECTIONS = 64;
const RATE_PER_SECOND = 10_000;

/**
 * Has the code of the driver compiled before the clock starts, by calls to a socket of its own: on shared cores the
 * compiling of the first calls is otherwise measured as a delay of the server.
 */
export async function warmUpDriver(): Promise<void> {
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (socket) => void socket.write(REPLY) },
  });
  const aim = { url: `http://127.0.0.1:${server.port}`, key: "" };
  try {
    for (const ratePerSecond of [null, RATE_PER_SECOND]) {
      await singlesRound({ ...ROUND, aims: [aim], connections: CONNECTIONS, ratePerSecond }, aim, 0);
    }
  } finally {
    server.stop(true);
  }
}
