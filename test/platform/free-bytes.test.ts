import { expect, test } from "bun:test";
import { freeBytes } from "../../src/platform/free-bytes.ts";

test("memory is given back with all its bytes, and what it held has moved nowhere", () => {
  const bytes = new Uint8Array(1_000_000).fill(1);
  freeBytes(bytes);
  expect([bytes.byteLength, bytes.buffer.detached]).toEqual([0, true]);
});

test("of bytes that are a part of something else, that are few, or that threads share, nothing is given back", () => {
  const whole = new Uint8Array(1_000_000);
  const shared = new Uint8Array(new SharedArrayBuffer(1_000_000));
  const few = new Uint8Array(1000);
  for (const bytes of [whole.subarray(1), whole.subarray(0, 999_999), shared, few]) freeBytes(bytes);
  expect([whole.byteLength, shared.byteLength, few.byteLength]).toEqual([1_000_000, 1_000_000, 1000]);
});

test("a hundred megabytes that are given back one after the other never take a hundred", () => {
  const before = process.memoryUsage.rss();
  for (let count = 0; count < 100; count++) freeBytes(new Uint8Array(1_000_000).fill(1));
  expect(process.memoryUsage.rss() - before).toBeLessThan(50_000_000);
});
