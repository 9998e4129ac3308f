import { expect, test } from "bun:test";
import { type IntakeHost, readInput } from "../../src/jobs/intake/intake.ts";

const PIECE_BYTES = 65_536;
const CHUNK_BYTES_MAX = 4_194_304;
const ROWS = 100;
const ROW = new TextEncoder().encode(`"a@good.com","${"x".repeat(200_000)}"\n`);

test("long rows with quotes are stored as they are read, a chunk at a time, and not held until their column is found", async () => {
  const stored: { readonly chunks: number; readonly read: number }[] = [];
  let read = 0;
  async function* pieces() {
    yield new TextEncoder().encode('"email","name"\n');
    for (let row = 0; row < ROWS; row += 1) {
      for (let at = 0; at < ROW.byteLength; at += PIECE_BYTES) {
        const piece = ROW.slice(at, at + PIECE_BYTES);
        read += piece.byteLength;
        yield piece;
      }
    }
  }
  const bodies: Uint8Array<ArrayBuffer>[] = [];
  const host: IntakeHost = {
    pieces: pieces(),
    async store(chunks) {
      stored.push({ chunks: chunks.length, read });
      for (const { n, body } of chunks) bodies[n] = body;
    },
    chunkBody: async (n) => bodies[n] ?? new Uint8Array(0),
    turn: async () => {},
    place: async () => ({ [Symbol.dispose]() {} }),
  };
  const outcome = await readInput(
    {
      ...{ tenant: "acc_1", form: "csv", kind: "email", rowsMax: 1_000, bytesMax: 100_000_000 },
      ...{ column: null, delimiter: null, encoding: null, seeds: [1, 2], spillPath: "" },
    },
    host,
  );
  expect(outcome).toMatchObject({ ok: true, rows: ROWS, distinct: 1 });
  expect(stored.length).toBeGreaterThan(3);
  let before = 0;
  for (const { chunks, read: now } of stored) {
    expect(chunks).toBe(1);
    expect(now - before).toBeLessThan(CHUNK_BYTES_MAX + 2 * ROW.byteLength);
    before = now;
  }
});
