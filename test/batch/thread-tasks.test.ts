import { describe, expect, test } from "bun:test";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { createBodyChunker } from "../../src/batch/body-chunker.ts";
import type { ChunkEncoding, ChunkingTask, VerifyTask } from "../../src/batch/messages.ts";
import { createChunkBodyTask, createVerifyChunkTask } from "../../src/batch/thread-tasks.ts";

const CHUNKING: ChunkingTask = {
  kind: "email",
  form: "json",
  body: Buffer.from(JSON.stringify({ emails: ["a@b.com", "c@d.com", "a@b.com"] })),
  itemsMax: 3,
  chunksEnough: 1,
  chunkItemsMin: 1,
  chunkItemsMax: 1,
};

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

function messagesUntilNull(port: MessagePort): Promise<readonly unknown[]> {
  const messages: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<readonly unknown[]>();
  port.on("message", (message) => (message === null ? resolve(messages) : messages.push(message)));
  return promise;
}

describe("the task that chunks a body", () => {
  test("returns without a port the events that it posts by one", async () => {
    const chunkBody = createChunkBodyTask(createBodyChunker());
    const returned = chunkBody({ ...CHUNKING, port: null });
    expect(returned.outcome).toEqual({ ok: true, distinct: 2 });
    expect(returned.events.length).toBeGreaterThan(2);

    const { port1, port2 } = new MessageChannel();
    const messages = messagesUntilNull(port1);
    expect(chunkBody({ ...CHUNKING, port: port2 })).toEqual({ outcome: returned.outcome, events: [] });
    expect(await messages).toEqual([...returned.events]);
  });
});

/** What is left of the text of results once the task has returned. */
function textLeft(encoding: ChunkEncoding | null): number {
  const bytes = new Uint8Array(1_000_000).fill(0x20);
  createVerifyChunkTask(() => ({ bytes, counts: {}, chargeable: 0, failures: 0 }))({ ...TASK, encoding });
  return bytes.byteLength;
}

test("a thread keeps no text of results that leave it compressed", () => {
  expect([textLeft(null), textLeft("gzip"), textLeft("zstd")]).toEqual([1_000_000, 0, 0]);
});
