import { expect, test } from "bun:test";
import { connect } from "node:net";
import { byteStream, inOnePiece } from "../../src/http/bodies/byte-stream.ts";
import { freeBytes } from "../../src/platform/free-bytes.ts";

const part = new Uint8Array(10);

function followed(source: AsyncGenerator<Uint8Array, void, undefined>) {
  const heard: string[] = [];
  const stream = byteStream(source, {
    stallMs: 10_000,
    onEnd: (complete) => heard.push(complete ? "complete" : "cut"),
    onError: (error) => heard.push(`failed: ${error}`),
  });
  return { reader: stream.getReader(), heard };
}

test("a stream that is read to its end is complete", async () => {
  const { reader, heard } = followed(
    (async function* () {
      yield part;
    })(),
  );
  expect((await reader.read()).value).toBe(part);
  expect((await reader.read()).done).toBe(true);
  expect(heard).toEqual(["complete"]);
});

/** What is heard where the reader leaves while the next part is being made, and then that fails. */
async function heardOfLeaving(failure: Error): Promise<string[]> {
  const making = Promise.withResolvers<void>();
  const { reader, heard } = followed(
    (async function* () {
      yield part;
      await making.promise;
      throw failure;
    })(),
  );
  await reader.read();
  const next = reader.read();
  await Bun.sleep(0);
  const leaving = reader.cancel();
  making.resolve();
  await Promise.all([next, leaving]);
  return heard;
}

test("a reader who leaves while the next part is made ends the stream, which is no failure", async () => {
  expect(await heardOfLeaving(new DOMException("called off", "AbortError"))).toEqual(["cut"]);
});

test("another failure while the reader leaves is reported", async () => {
  expect(await heardOfLeaving(new TypeError("a bug"))).toEqual(["cut", "failed: TypeError: a bug"]);
});

test("a source that fails breaks the stream off, and is reported once", async () => {
  const { reader, heard } = followed(
    // biome-ignore lint/correctness/useYield: it fails before it makes anything
    (async function* () {
      throw new Error("no more");
    })(),
  );
  await expect(reader.read()).rejects.toThrow("The source of the reply failed");
  expect(heard).toEqual(["failed: Error: no more", "cut"]);
});

test("what a source made before it failed reaches a reader that reads on", async () => {
  const made = [1, 2, 3, 4].map((value) => new Uint8Array(300_000).fill(value));
  async function* source() {
    yield* made;
    throw new Error("no more");
  }
  const options = { stallMs: 10_000, onEnd: () => undefined, onError: () => undefined };
  const body = () => byteStream(source(), options);
  await using server = Bun.serve({ port: 0, fetch: () => new Response(body()), error: () => undefined });
  const { promise, resolve } = Promise.withResolvers<number>();
  let bytes = 0;
  const socket = connect(Number(server.url.port), "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  socket.on("data", (part: Buffer) => {
    bytes += part.filter((byte) => byte >= 1 && byte <= 4).byteLength;
  });
  socket.on("error", () => undefined);
  socket.on("close", () => resolve(bytes));
  expect(await promise).toBe(1_200_000);
});

const PARTS = 16;
const PART_BYTES = 1_000_000;

test("parts whose memory is reused once they are taken reach a slow reader unchanged", async () => {
  const taken: number[] = [];
  const isFull = Promise.withResolvers<void>();
  async function* parts() {
    for (let at = 1; at <= PARTS; at++) {
      if (at === 2) isFull.resolve();
      yield new Uint8Array(PART_BYTES).fill(at);
    }
  }
  using server = Bun.serve({
    port: 0,
    fetch: () =>
      new Response(
        byteStream(parts(), {
          stallMs: 60_000,
          onEnd: () => undefined,
          onError: () => undefined,
          onTaken(bytes) {
            taken.push(bytes[0] ?? 0);
            freeBytes(bytes);
          },
        }),
      ),
  });
  const reply = await fetch(server.url);
  await isFull.promise;
  const counts = new Map<number, number>();
  for await (const bytes of reply.body ?? []) {
    for (const value of bytes) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const each = Array.from({ length: PARTS }, (_, at) => at + 1);
  expect([...counts]).toEqual(each.map((value) => [value, PART_BYTES]));
  expect(taken).toEqual(each);
});

/** What a connection receives first of a reply that is made after its handler waited. */
async function firstReceived(body: ReturnType<typeof inOnePiece>): Promise<string> {
  await using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch() {
      await new Promise((resolve) => setImmediate(resolve));
      return new Response(body, { headers: { "X-First": "1", "X-Second": "2", "X-Third": "3" } });
    },
  });
  const socket = connect(server.port ?? 0, "127.0.0.1");
  try {
    return await new Promise((resolve, reject) => {
      socket.once("data", (bytes) => resolve(bytes.toString("latin1")));
      socket.once("error", reject);
      socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    });
  } finally {
    socket.destroy();
  }
}

test("the headers of a large body in one piece leave together", async () => {
  for (let call = 0; call < 20; call += 1) {
    expect(await firstReceived(inOnePiece(Buffer.alloc(40_000, "a")))).toContain("\r\n\r\n");
  }
});

test("a small body in one piece keeps its length, a large one is whole without", async () => {
  const small = Buffer.alloc(8192, "a");
  expect(inOnePiece(small)).toBe(small);
  const large = Buffer.alloc(8193, "a");
  const body = inOnePiece(large);
  expect(body).toBeInstanceOf(ReadableStream);
  expect(Buffer.from(await new Response(body).bytes()).equals(large)).toBe(true);
});
