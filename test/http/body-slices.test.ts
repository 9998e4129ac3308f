import { expect, test } from "bun:test";
import { bodySlices, SLICE_BYTES } from "../../src/http/bodies/body-slices.ts";

async function* partsOf(...parts: readonly Uint8Array[]) {
  yield* parts;
}

test("a chunk of megabytes is passed on in slices, and other work has a turn after each", async () => {
  const bytes = new Uint8Array(5 * SLICE_BYTES + 17).map((_, at) => at % 251);
  let turns = 0;
  const count = () => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const slices: Uint8Array[] = [];
  const turnsAt: number[] = [];
  for await (const slice of bodySlices(partsOf(bytes, Uint8Array.of(1, 2)))) {
    slices.push(slice);
    turnsAt.push(turns);
  }
  clearImmediate(next);
  expect(slices.map(({ byteLength }) => byteLength)).toEqual([...Array(5).fill(SLICE_BYTES), 17, 2]);
  expect(Buffer.concat(slices).equals(Buffer.concat([bytes, Uint8Array.of(1, 2)]))).toBeTrue();
  expect(new Set(turnsAt).size).toBe(slices.length);
});

test("leaving the slices ends the reading of the body", async () => {
  let hasLeft = false;
  async function* endless() {
    try {
      for (;;) yield new Uint8Array(10);
    } finally {
      hasLeft = true;
    }
  }
  for await (const slice of bodySlices(endless())) if (slice.byteLength === 10) break;
  expect(hasLeft).toBeTrue();
});
