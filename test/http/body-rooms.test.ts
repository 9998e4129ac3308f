import { expect, test } from "bun:test";
import { createBodyRooms } from "../../src/http/bodies/body-rooms.ts";

const MIB = 1_048_576;

test("a released buffer is reused for the next body: the smallest that is large enough", () => {
  const rooms = createBodyRooms();
  const [small, large] = [rooms.take(10, 10), rooms.take(20 * MIB, 20 * MIB)];
  expect([small.byteLength, large.byteLength]).toEqual([MIB, 32 * MIB]);
  for (const room of [large, small]) rooms.giveBack(room);
  expect(rooms.take(10, MIB)).toBe(small);
  expect(rooms.take(10, 2 * MIB)).toBe(large);
  expect(rooms.take(10, MIB)).not.toBe(small);
});

test("at most 64 MiB of released buffers are kept", () => {
  const rooms = createBodyRooms();
  const three = [0, 1, 2].map(() => rooms.take(32 * MIB, 32 * MIB));
  for (const room of three) rooms.giveBack(room);
  const again = [0, 1, 2].map(() => rooms.take(32 * MIB, 32 * MIB));
  expect(again.filter((room) => three.includes(room))).toHaveLength(2);
});

test("a buffer is at least as large as needed, and at most eight times as large", () => {
  const rooms = createBodyRooms();
  for (let neededBytes = MIB; neededBytes < 40 * MIB; neededBytes = Math.ceil(neededBytes * 1.3)) {
    const { byteLength } = rooms.take(neededBytes, 64 * MIB);
    expect(byteLength).toBeGreaterThanOrEqual(neededBytes);
    expect(byteLength).toBeLessThanOrEqual(8 * neededBytes);
  }
});
