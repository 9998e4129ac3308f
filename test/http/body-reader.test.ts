import { describe, expect, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { createBodyReader, type HeldBody } from "../../src/http/bodies/body-reader.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createFairTurns } from "../../src/platform/fair-turns.ts";

const BYTES = 200_000;

test("a disposed body no longer counts, and keeps no memory even while it is referenced", async () => {
  const bodies = createBodyReader({ bytesMax: 1_000_000, heldBytesMax: 1_000_000 });
  for (const headers of [{ "Content-Length": `${BYTES}` }, {}]) {
    const request = new Request("http://localhost/", { method: "POST", headers, body: "x".repeat(BYTES) });
    const held = await bodies.read(request, { tenant: "one" });
    expect([held.bytes.length, bodies.heldBytes()]).toEqual([BYTES, BYTES]);
    held[Symbol.dispose]();
    held[Symbol.dispose]();
    expect([held.bytes.length, bodies.heldBytes()]).toEqual([0, 0]);
  }
});

test("a body is in memory once: its chunks are released when they are copied", async () => {
  const bodies = createBodyReader({ bytesMax: 1_000_000, heldBytesMax: 1_000_000 });
  const arrived = [new Uint8Array(BYTES).fill(1), new Uint8Array(BYTES).fill(2)];
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of arrived) controller.enqueue(part);
      controller.close();
    },
  });
  const request = new Request("http://localhost/", { method: "POST", body });
  using held = await bodies.read(request, { tenant: "one" });
  expect([held.bytes.length, held.bytes[0], held.bytes.at(-1)]).toEqual([2 * BYTES, 1, 2]);
  expect(arrived.map(({ byteLength }) => byteLength)).toEqual([0, 0]);
});

describe("the digest of a body", () => {
  const bytes = crypto.getRandomValues(new Uint8Array(60_000));
  const digest = new Bun.CryptoHasher("sha256").update(bytes).update(bytes).update(bytes).digest("hex");
  const whole = Buffer.concat([bytes, bytes, bytes]);
  const parts = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of [whole.subarray(0, 1), whole.subarray(1, 150_000), whole.subarray(150_000)]) {
        controller.enqueue(part);
      }
      controller.close();
    },
  });
  const length = { "Content-Length": `${whole.byteLength}` };
  const key = { "Idempotency-Key": "one" };

  test.each([
    ["as a whole", length, whole],
    ["with a key", { ...length, ...key }, whole],
    ["compressed, with a key", { ...key, "Content-Encoding": "gzip" }, Bun.gzipSync(whole)],
    ["in parts, with a key", key, parts],
  ])("is the same however it comes: %s", async (_, headers, body) => {
    const bodies = createBodyReader({ bytesMax: 1_000_000, heldBytesMax: 1_000_000 });
    const request = new Request("http://localhost/", { method: "POST", headers, body });
    using held = await bodies.read(request, { tenant: "one" });
    expect(held.digest()).toBe(digest);
    expect(held.digest()).toBe(digest);
    expect(Buffer.compare(held.bytes, whole)).toBe(0);
  });
});

test.each([{}, { "Idempotency-Key": "one" }])(
  "a body of 4 MB in one chunk leaves turns of the event loop to others: %j",
  async (headers) => {
    const bodies = createBodyReader({ bytesMax: 4_194_304, heldBytesMax: 4_194_304 });
    let turns = 0;
    let isRead = false;
    const count = () => {
      turns += 1;
      if (!isRead) setImmediate(count);
    };
    setImmediate(count);
    const request = new Request("http://localhost/", {
      method: "POST",
      headers,
      body: new Uint8Array(4_194_304),
    });
    using held = await bodies.read(request, { tenant: "one" });
    isRead = true;
    expect(held.bytes.byteLength).toBe(4_194_304);
    expect(turns).toBeGreaterThanOrEqual(16);
  },
);

describe("a body that is arriving", () => {
  const MEGABYTE = 1_000_000;

  /** A request whose body comes as the test sends it. */
  function upload() {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const request = new Request("http://localhost/", { method: "POST", body: readable });
    return { request, writer };
  }

  test("is aborted where its account holds more than its share and another has no room", async () => {
    const bodies = createBodyReader({ bytesMax: MEGABYTE, heldBytesMax: 2 * MEGABYTE });
    const slow = [upload(), upload(), upload()];
    const reading = slow.map(({ request }) => bodies.read(request, { tenant: "slow" }));
    const ends = reading.map((each) =>
      each.then(
        () => "read",
        ({ code }) => code,
      ),
    );
    for (const { writer } of slow) await writer.write(new Uint8Array(600_000));
    while (bodies.heldBytes() < 1_800_000) await Bun.sleep(1);
    const held: HeldBody[] = [];
    for (let count = 0; count < 2; count += 1) {
      const request = new Request("http://localhost/", { method: "POST", body: "x".repeat(500_000) });
      held.push(await bodies.read(request, { tenant: "quick" }));
    }
    expect(held.map(({ bytes }) => bytes.byteLength)).toEqual([500_000, 500_000]);
    expect(bodies.heldBytes()).toBeLessThanOrEqual(2.5 * MEGABYTE);
    for (const { writer } of slow) void writer.close();
    const codes = await Promise.all(ends);
    expect(codes.toSorted()).toEqual(["overloaded", "read", "read"]);
    for (const body of held) body[Symbol.dispose]();
    for (const each of await Promise.allSettled(reading))
      if (each.status === "fulfilled") each.value[Symbol.dispose]();
    expect(bodies.heldBytes()).toBe(0);
  });

  test("is refused to a tenant that holds its share, however much room is left", async () => {
    const limits = { bytesMax: 400_000, heldBytesMax: 4 * MEGABYTE, heldByTenantBytesMax: MEGABYTE };
    const bodies = createBodyReader({ ...limits, smallBytesMax: 1000 });
    const read = (tenant: string, headers: { readonly [name: string]: string } = {}) => {
      const body = "x".repeat(400_000);
      return bodies.read(new Request("http://localhost/", { method: "POST", headers, body }), { tenant });
    };
    const held = [await read("one"), await read("one")];
    for (const headers of [{}, { "Content-Length": "400000" }]) {
      await expect(read("one", headers)).rejects.toMatchObject({ code: "overloaded" });
    }
    held.push(await read("other"));
    expect(bodies.heldBytes()).toBe(1_200_000);
    for (const body of held) body[Symbol.dispose]();
    using again = await read("one");
    expect([again.bytes.byteLength, bodies.heldBytes()]).toEqual([400_000, 400_000]);
  });

  test("that inflates takes turns with those of other tenants, however many one of them sends", async () => {
    const turns = createFairTurns(systemClock.monotonic);
    const bodies = createBodyReader({ bytesMax: 8 * MEGABYTE, heldBytesMax: 512 * MEGABYTE, turns });
    const body = gzipSync(new Uint8Array(8 * MEGABYTE));
    const headers = { "Content-Encoding": "gzip" };
    const read = (tenant: string) =>
      bodies.read(new Request("http://localhost/", { method: "POST", headers, body }), { tenant });
    const many = Array.from({ length: 40 }, () => read("many"));
    (await read("one"))[Symbol.dispose]();
    // Both had as many turns; the rest is what threads had ready of the one while the other waited for them.
    expect(bodies.heldBytes()).toBeLessThan(10 * 8 * MEGABYTE);
    for (const held of await Promise.all(many)) held[Symbol.dispose]();
    expect(bodies.heldBytes()).toBe(0);
  });

  test("gets memory as it arrives, at most eight times what has arrived", async () => {
    const bodies = createBodyReader({ bytesMax: 32 * MEGABYTE, heldBytesMax: 64 * MEGABYTE });
    for (const bytes of [200_000, 700_000, 9_000_000]) {
      const { request, writer } = upload();
      const reading = bodies.read(request, { tenant: "one" });
      const sent = new Uint8Array(bytes).map((_, at) => at % 251);
      for (let start = 0; start < bytes; start += 150_000) {
        await writer.write(sent.subarray(start, start + 150_000));
      }
      await writer.close();
      using held = await reading;
      expect(Buffer.compare(held.bytes, sent)).toBe(0);
      expect(held.bytes.buffer.byteLength).toBeLessThanOrEqual(Math.max(1_048_576, 8 * bytes));
    }
  });

  test("is not kept in memory by the hold that was moved on", async () => {
    const bodies = createBodyReader({ bytesMax: MEGABYTE, heldBytesMax: 32 * MEGABYTE });
    const readOne = async () => {
      const request = new Request("http://localhost/", { method: "POST", body: "x".repeat(BYTES) });
      const body = await bodies.read(request, { tenant: "one" });
      const bytes = new WeakRef(body.bytes.buffer);
      return { bytes, hold: body.moveHold() };
    };
    const moved = await Promise.all(Array.from({ length: 80 }, readOne));
    await nextTurn();
    Bun.gc(true);
    // 64 MB of memory, in pieces of one, are kept for the next bodies.
    expect(moved.filter(({ bytes }) => bytes.deref() !== undefined).length).toBeLessThan(68);
    for (const { hold } of moved) hold[Symbol.dispose]();
  });

  test("still counts after its bytes are released, while its hold is moved on", async () => {
    const bodies = createBodyReader({ bytesMax: MEGABYTE, heldBytesMax: MEGABYTE });
    const request = new Request("http://localhost/", { method: "POST", body: "x".repeat(BYTES) });
    const body = await bodies.read(request, { tenant: "one" });
    const hold = body.moveHold();
    body[Symbol.dispose]();
    expect([body.bytes.length, bodies.heldBytes()]).toEqual([0, BYTES]);
    hold[Symbol.dispose]();
    expect(bodies.heldBytes()).toBe(0);
  });
});
