import { expect, test } from "bun:test";
import { connect } from "node:net";
import type { VerifiedChunk } from "../../src/batch/messages.ts";
import type { Reservation } from "../../src/billing/reservation.ts";
import { type BatchRun, replyStreamed, replyWhole, untilRead } from "../../src/http/batch-reply.ts";
import type { Call } from "../../src/http/call.ts";

const CHUNK_BYTES = 1_000_000;
const CHUNKS = 5;
/** Enough for two charges: of three chunks and of two. */
const COUNT = 16_000;

function runOf(results: BatchRun["results"]): BatchRun {
  const call: Call = {
    ...{ id: "one", request: new Request("http://localhost/"), route: "/v1/email/batch", params: {} },
    ...{ bearer: null, account: null, units: 0, headers: {}, isBodyLeft: false, streaming: false },
    clientAddress: () => "127.0.0.1",
    suspendIdleTimeout: () => undefined,
    finish: () => undefined,
    reportError(error) {
      throw error;
    },
  };
  const reservation: Reservation = {
    ...{ accountId: "one", units: CHUNKS, record: async () => undefined },
    release: () => undefined,
    chargedUnits: () => CHUNKS,
  };
  return {
    ...{ call, signal: new AbortController().signal, statuses: [], count: COUNT, chunkCount: CHUNKS },
    ...{ distinct: CHUNKS, reservation, unitsPerItem: 1, results, lines: false, encoding: null },
  };
}

test("results of a streamed batch take no memory once they are read, even while they are referenced", async () => {
  const made: Uint8Array[] = [];
  async function* results(): AsyncGenerator<VerifiedChunk, void, undefined> {
    for (let at = 1; at <= CHUNKS; at++) {
      const bytes = new Uint8Array(CHUNK_BYTES).fill(at);
      made.push(bytes);
      yield { bytes, counts: {}, chargeable: 1, failures: 0 };
    }
  }
  const { body } = await replyStreamed(runOf(results()), new DisposableStack(), 60_000);
  if (!(body instanceof ReadableStream)) throw new Error("not streamed");
  const read: number[] = [];
  let heldMost = 0;
  for await (const part of body) {
    if (part.byteLength === CHUNK_BYTES) read.push(part[0] ?? 0);
    heldMost = Math.max(heldMost, made.filter(({ byteLength }) => byteLength > 0).length);
  }
  expect(read).toEqual([1, 2, 3, 4, 5]);
  // The chunks of one charge, which are at hand together.
  expect([heldMost, made.filter(({ byteLength }) => byteLength > 0)]).toEqual([3, []]);
});

test("results of a batch that is not streamed are in memory once", async () => {
  const made = [1, 2].map((value) => new Uint8Array(CHUNK_BYTES).fill(value));
  async function* results(): AsyncGenerator<VerifiedChunk, void, undefined> {
    for (const bytes of made) yield { bytes, counts: {}, chargeable: 1, failures: 0 };
  }
  const { body } = await replyWhole(runOf(results()));
  if (!(body instanceof Uint8Array)) throw new Error("not whole");
  const start = body.indexOf(1);
  expect([body[start + CHUNK_BYTES - 1], body[start + CHUNK_BYTES]]).toEqual([1, 2]);
  expect(made.map(({ byteLength }) => byteLength)).toEqual([0, 0]);
});

test("a reply starts soon after its first chunk, however long the others take, and nothing is charged twice", async () => {
  const others = Promise.withResolvers<void>();
  async function* results(): AsyncGenerator<VerifiedChunk, void, undefined> {
    for (let at = 1; at <= CHUNKS; at++) {
      yield { bytes: new Uint8Array(1).fill(at), counts: {}, chargeable: 1, failures: 0 };
      await others.promise;
    }
  }
  const run = runOf(results());
  const charges: number[] = [];
  const reservation: Reservation = {
    ...run.reservation,
    record: async ({ units }) => void charges.push(units),
  };
  const { body } = await replyStreamed({ ...run, reservation }, new DisposableStack(), 60_000);
  if (!(body instanceof ReadableStream)) throw new Error("not streamed");
  expect(charges).toEqual([1]);
  others.resolve();
  await Array.fromAsync(body);
  expect(charges).toEqual([1, 2, 2]);
});

test("a charge that is pending when the reader leaves is in the report, which follows once it is on the disk", async () => {
  async function* results(): AsyncGenerator<VerifiedChunk, void, undefined> {
    for (let at = 1; at <= CHUNKS; at++)
      yield { bytes: new Uint8Array(1), counts: {}, chargeable: 1, failures: 0 };
  }
  const run = runOf(results());
  const charging = Promise.withResolvers<void>();
  const disk = Promise.withResolvers<void>();
  let charged = 0;
  const reservation: Reservation = {
    ...run.reservation,
    async record({ units }) {
      if (charged > 0) {
        charging.resolve();
        await disk.promise;
      }
      charged += units;
    },
    chargedUnits: () => charged,
  };
  const reports: unknown[] = [];
  const call: Call = {
    ...run.call,
    finish: (status, outcome) => void reports.push([status, outcome, call.units]),
  };
  const { body } = await replyStreamed({ ...run, call, reservation }, new DisposableStack(), 60_000);
  if (!(body instanceof ReadableStream)) throw new Error("not streamed");
  const reader = body.getReader();
  // The opening, and the three chunks of the first charge.
  for (let part = 0; part < 4; part += 1) await reader.read();
  const next = reader.read();
  await charging.promise;
  const leaving = reader.cancel();
  expect(reports).toEqual([]);
  disk.resolve();
  await Promise.all([next, leaving]);
  expect(reports).toEqual([[200, "cut", CHUNKS]]);
});

test("a kept reply whose caller left before it began leaves its place at once", async () => {
  async function* none(): AsyncGenerator<VerifiedChunk, void, undefined> {}
  const received = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const freed = Promise.withResolvers<void>();
  await using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch({ signal }) {
      signal.addEventListener("abort", () => left.resolve());
      received.resolve();
      await left.promise;
      const place = new DisposableStack();
      place.defer(() => freed.resolve());
      const kept = { status: 200, body: new Blob(["a kept reply"]).stream() };
      const { body } = untilRead(kept, runOf(none()).call, place, 60_000);
      return new Response(body);
    },
  });
  const socket = connect(server.port ?? 0, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await received.promise;
  socket.destroy();
  await freed.promise;
});
