import { expect, test } from "bun:test";
import { openConnection } from "../../bench/load/connection.ts";

const REQUEST = Buffer.from("GET / HTTP/1.1\r\n\r\n");
const REPLY = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
const IDLE_MS = 10_000;

/** A connection of the driver to a server that does with its requests what `acts` says, one after the other. */
async function openDriven(acts: ("answer" | "close")[]) {
  const nothing = () => undefined;
  let closeNow: () => void = nothing;
  let onClosed: () => void = nothing;
  let connections = 0;
  let nowMs = 0;
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        connections += 1;
        closeNow = () => socket.end();
      },
      data: (socket) => void (acts.shift() === "answer" ? socket.write(REPLY) : socket.end()),
      close: () => onClosed(),
    },
  });
  let settle: (outcome: number | "lost") => void = nothing;
  const connection = await openConnection(
    `http://127.0.0.1:${server.port}`,
    { onReply: (status) => settle(status), onLost: () => settle("lost") },
    () => nowMs,
  );
  return {
    connections: () => connections,
    actsLeft: () => acts.length,
    pass: (ms: number) => {
      nowMs += ms;
    },
    send: () =>
      new Promise<number | "lost">((resolve) => {
        settle = resolve;
        connection.send(REQUEST);
      }),
    serverCloses: () =>
      new Promise<void>((resolve) => {
        onClosed = resolve;
        closeNow();
      }),
    [Symbol.dispose]() {
      connection.close();
      server.stop(true);
    },
  };
}

test("a connection that the server closed for idleness is opened anew by the next request, which is sent once", async () => {
  using driven = await openDriven(["answer", "answer"]);
  expect(await driven.send()).toBe(200);
  driven.pass(IDLE_MS);
  await driven.serverCloses();
  expect(await driven.send()).toBe(200);
  expect([driven.connections(), driven.actsLeft()]).toEqual([2, 0]);
});

test("a request that crosses the end of an idle connection is sent once more, and no more", async () => {
  using driven = await openDriven(["answer", "close", "answer"]);
  expect(await driven.send()).toBe(200);
  driven.pass(IDLE_MS);
  expect(await driven.send()).toBe(200);
  expect([driven.connections(), driven.actsLeft()]).toEqual([2, 0]);

  using closing = await openDriven(["answer", "close", "close"]);
  expect(await closing.send()).toBe(200);
  closing.pass(IDLE_MS);
  expect(await closing.send()).toBe("lost");
  expect([closing.connections(), closing.actsLeft()]).toEqual([2, 0]);
});

test("a request on a connection in use that the server closes is lost, and not sent again", async () => {
  using driven = await openDriven(["answer", "close", "answer"]);
  expect(await driven.send()).toBe(200);
  expect(await driven.send()).toBe("lost");
  expect([driven.connections(), driven.actsLeft()]).toEqual([1, 1]);
});
