import { expect, test } from "bun:test";
import { createRequestIds } from "../../src/http/request-ids.ts";

/** Bytes 0, 1, 2 … in place of chance. */
function countingBytes() {
  let next = 0;
  return (length: number) => Uint8Array.from({ length }, () => next++ % 240);
}

test("no two calls have one name, in one process or in two", () => {
  const bytes = countingBytes();
  const processes = [createRequestIds(bytes), createRequestIds(bytes)];
  const ids = processes.flatMap((next) => Array.from({ length: 200_000 }, next));
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids.slice(0, 1_000)) expect(id).toMatch(/^req_[0-9A-Za-z]{10}[0-9a-z]{6}$/);
});

test("the names of two calls do not show how many there were between them", () => {
  const next = createRequestIds(countingBytes());
  const ends = Array.from({ length: 1_000 }, () => next().slice(-6));
  const isSorted = ends.every((end, at) => at === 0 || end > (ends[at - 1] ?? ""));
  expect(isSorted).toBe(false);
  expect(new Set(ends.map((end) => end.slice(0, 1))).size).toBeGreaterThan(20);
});
