import { expect, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createRowBody, readRowBody } from "../../src/billing/body-in-row.ts";

const NAME = { secret: "secret", name: "one" };
const FRAME_BYTES = 131_072;

/** Counts the turns of the event loop that other work gets until it is aborted. */
async function turnsUntil(signal: AbortSignal): Promise<number> {
  let turns = 0;
  while (!signal.aborted) {
    await nextTurn();
    turns += 1;
  }
  return turns;
}

test("other work has a turn behind each 128 KB of a body, which is read back unchanged by as many", async () => {
  const frames = 32;
  const written = Buffer.from(crypto.getRandomValues(new Uint8Array(65_536)).toHex().repeat(frames));
  const ended = new AbortController();
  const turns = turnsUntil(ended.signal);
  let taken = 0;
  const take = (bytes: number) => {
    taken += bytes;
  };
  const body = createRowBody({ ...NAME, bodyBytesMax: written.byteLength, take });
  await body.append(new Uint8Array(written));
  const row = await body.finish();
  ended.abort();
  expect(await turns).toBeGreaterThanOrEqual(frames);
  expect(taken).toBe(row.length);

  const pieces = await Array.fromAsync(readRowBody(row, NAME.secret, NAME.name));
  expect(pieces.map(({ byteLength }) => byteLength)).toEqual(Array(frames).fill(FRAME_BYTES));
  expect(Buffer.concat(pieces).equals(written)).toBeTrue();
});

test("a body that is too long is refused, and none is read where the row was altered or cut off", async () => {
  const body = createRowBody({ ...NAME, bodyBytesMax: 400_000, take: () => undefined });
  await body.append("first ".repeat(50_000));
  await expect(body.append("x".repeat(100_001))).rejects.toThrow("over 400000 bytes");
  const bytes = Buffer.from(await body.finish(), "base64");
  const flipped = Buffer.from(bytes);
  flipped.writeUInt8(flipped.readUInt8(40) ^ 1, 40);
  for (const damaged of [flipped, bytes.subarray(0, -4), bytes.subarray(0, -10)]) {
    const read = new Response(readRowBody(damaged.toString("base64"), NAME.secret, NAME.name)).text();
    await expect(read).rejects.toThrow("a kept reply");
  }
});
