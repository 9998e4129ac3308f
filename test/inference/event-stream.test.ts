import { describe, expect, test } from "bun:test";
import { createEventParser, EventStreamError } from "../../src/inference/event-stream.ts";

function eventsOf(text: string, size = 7): string[] {
  const bytes = Buffer.from(text);
  const parser = createEventParser();
  const events: string[] = [];
  for (let at = 0; at < bytes.length; at += size) events.push(...parser.push(bytes.subarray(at, at + size)));
  return events;
}

describe("events of a stream", () => {
  const stream =
    ': hello\r\n\r\ndata: {"a":1}\r\n\r\nevent: x\ndata:two\ndata: lines ü€😀\n\nid: 3\n\rdata: last\r\r';
  const events = ['{"a":1}', "two\nlines ü€😀", "last"];

  for (const size of [1, 2, 3, 5, 64]) {
    test(`are the same however they are cut: by ${size} bytes`, () => {
      expect(eventsOf(stream, size)).toEqual(events);
    });
  }

  test("without an empty line behind them are not complete", () => {
    expect(eventsOf("data: one\n\ndata: half\n")).toEqual(["one"]);
  });

  test("end with the [DONE], whether its empty line comes or not, and with no other half of an event", () => {
    const endsWithDone = (text: string) => {
      const parser = createEventParser();
      for (const byte of Buffer.from(text)) parser.push(Buffer.from([byte]));
      return parser.endsWithDone();
    };
    for (const end of [
      "data: [DONE]",
      "data:[DONE]",
      "data: [DONE]\n",
      "data: [DONE]\r\n",
      "data: [DONE]\nid: 3",
    ]) {
      expect([end, endsWithDone(`data: 1\n\n${end}`), endsWithDone(end)]).toEqual([end, true, true]);
    }
    for (const end of [
      "data: [DONE",
      "[DONE]",
      "data: x\ndata: [DONE]",
      "data: [DONE]\ndata: x",
      ": [DONE]",
      "",
    ]) {
      expect([end, endsWithDone(`data: 1\n\n${end}`)]).toEqual([end, false]);
    }
  });

  test("of more than 4 MB are refused before they are whole", () => {
    for (const part of ["a".repeat(65_536), `data: ${"a".repeat(1000)}\n`]) {
      const parser = createEventParser();
      parser.push(Buffer.from("data: "));
      const bytes = Buffer.from(part);
      expect(() => {
        for (let sent = 0; sent < 8_000_000; sent += bytes.length) parser.push(bytes);
      }).toThrow(EventStreamError);
    }
  });
});
