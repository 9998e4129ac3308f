import { expect, test } from "bun:test";
import type { ChunkEncoding, VerifyTask } from "../../src/batch/messages.ts";
import { createVerifyChunkTask } from "../../src/batch/thread-tasks.ts";

const TASK: VerifyTask = {
  ...{
    kind: "email",
    items: "[]",
    count: 0,
    duplicates: new Uint32Array(0),
    domainNumbers: null,
    facts: null,
  },
  ...{ country: null, separator: ",", continues: false },
};

/** What is left of the text of results once the task has returned. */
function textLeft(encoding: ChunkEncoding | null): number {
  const bytes = new Uint8Array(1_000_000).fill(0x20);
  createVerifyChunkTask(() => ({ bytes, counts: {}, chargeable: 0, failures: 0 }))({ ...TASK, encoding });
  return bytes.byteLength;
}

test("a thread keeps no text of results that leave it compressed", () => {
  expect([textLeft(null), textLeft("gzip"), textLeft("zstd")]).toEqual([1_000_000, 0, 0]);
});
