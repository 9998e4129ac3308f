import { describe, expect, test } from "bun:test";
import { EventStreamError, readEvents } from "../../src/inference/event-stream.ts";

async function* inParts(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function eventsOf(text: string, size = 7): Promise<string[]> {
  return Array.fromAsync(readEvents(inParts(Buffer.from(text), size)));
}

describe("events of a stream", () => {
  const stream =
    ': hello\r\n\r\ndata: {"a":1}\r\n\r\nevent: x\ndata:two\ndata: lines ü€😀\n\nid: 3\n\rdata: last\r\r';
  const events = ['{"a":1}', "two\nlines ü€😀", "last"];

  for (const size of [1, 2, 3, 5, 64]) {
    test(`are the same however they are cut: by ${size} bytes`, async () => {
      expect(await eventsOf(stream, size)).toEqual(events);
    });
  }

  test("without an empty line behind them are none", async () => {
    expect(await eventsOf("data: one\n\ndata: half\n")).toEqual(["one"]);
  });

  test("of more than 4 MB are refused before they are whole", async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("data: ");
      for (;;) yield Buffer.alloc(65_536, "a");
    }
    await expect(Array.fromAsync(readEvents(endless()))).rejects.toBeInstanceOf(EventStreamError);
    async function* manyLines(): AsyncGenerator<Uint8Array> {
      for (;;) yield Buffer.from(`data: ${"a".repeat(1000)}\n`);
    }
    await expect(Array.fromAsync(readEvents(manyLines()))).rejects.toBeInstanceOf(EventStreamError);
  });
});
