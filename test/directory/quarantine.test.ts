import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import type { QuarantinedRecord } from "../../src/directory/sync/contents.ts";
import { createRejecter } from "../../src/directory/sync/draft-rows.ts";
import { START } from "../support/directory.ts";

const RECORDS = 200;
const RECORD_BYTES = 65_000;

/** Bytes in use, those of texts included. */
function bytesInUse(): number {
  Bun.gc(true);
  const { heapSize, extraMemorySize } = heapStats();
  return heapSize + extraMemorySize;
}

test("a quarantined record takes the memory of its beginning alone", () => {
  const quarantine = new Map<string, QuarantinedRecord>();
  const reject = createRejecter(new Map(), quarantine, START);
  const decoder = new TextDecoder();
  const before = bytesInUse();
  for (let n = 0; n < RECORDS; n++) {
    const row = Buffer.alloc(RECORD_BYTES, "é");
    reject(`host-${n}.example`, "bad_score", decoder.decode(row));
  }
  expect(bytesInUse() - before).toBeLessThan((RECORDS * RECORD_BYTES) / 5);
  expect(quarantine.get("host-7.example")?.record).toBe("é".repeat(1000));
});
