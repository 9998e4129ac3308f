import { expect, test } from "bun:test";
import { createRequestIds } from "../../src/http/request-ids.ts";

/** Bytes that follow from a seed, in place of chance. */
function bytesFrom(seed: number) {
  let state = seed;
  return (length: number) =>
    Uint8Array.from({ length }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 16) % 240;
    });
}

test("no two calls have the same id, in one process or in two", () => {
  const processes = [createRequestIds(bytesFrom(1)), createRequestIds(bytesFrom(2))];
  const ids = processes.flatMap((next) => Array.from({ length: 200_000 }, next));
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids.slice(0, 1_000)) expect(id).toMatch(/^req_[0-9A-Za-z]{10}[0-9a-z]{6}$/);
});

test("a counter that is used up, to its last number, is followed by another", () => {
  for (const counterBits of [1, 2, 7, 10, 13]) {
    for (let seed = 0; seed < 20; seed += 1) {
      const next = createRequestIds(bytesFrom(seed), counterBits);
      const ids = Array.from({ length: 3 * 2 ** counterBits }, next);
      expect(new Set(ids).size).toBe(ids.length);
      expect(new Set(ids.map((id) => id.slice(0, 14))).size).toBe(3);
    }
  }
});

test("the ids of two calls do not reveal the number of calls between them", () => {
  const COUNTS = [1, 10, 1_000] as const;
  for (const between of COUNTS) {
    const distances = Array.from({ length: 200 }, (_, seed) => {
      const next = createRequestIds(bytesFrom(seed));
      const ends = Array.from({ length: between + 1 }, () => next().slice(-6));
      return `${ends[0]} ${ends.at(-1)}`;
    });
    expect(new Set(distances.map((pair) => distanceOf(pair))).size).toBeGreaterThan(195);
  }
});

/** How far the two counters are apart as they are written. */
function distanceOf(pair: string): number {
  const [one = "", other = ""] = pair.split(" ").map((end) => end.replace(/./g, (digit) => digitOf(digit)));
  return Number.parseInt(other, 32) - Number.parseInt(one, 32);
}

function digitOf(character: string): string {
  return "0123456789abcdefghjkmnpqrstvwxyz".indexOf(character).toString(32);
}
