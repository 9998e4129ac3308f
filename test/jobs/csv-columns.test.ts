import { expect, test } from "bun:test";
import { readCsvRecords } from "../../src/jobs/intake/csv-records.ts";
import type { RecordSink } from "../../src/jobs/intake/records.ts";

const SINK = { takeText: () => null, take: () => null } satisfies RecordSink;

async function* piecesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

const read = (text: string) =>
  readCsvRecords(piecesOf(text), SINK, { kind: "email", column: null, delimiter: "," });

const headerOf = (columns: number) => ["email", ...new Array(columns - 1).fill("a")].join(",");

test.each(["", '"'])("a list has at most 16,384 columns, with the quote %p in its row", async (quote) => {
  const row = `\n${quote}a@good.com${quote}\n`;
  expect(await read(headerOf(16_384) + row)).toMatchObject({ table: { index: 0 } });
  expect(await read(headerOf(16_385) + row)).toEqual({
    refusal: {
      code: "invalid_request",
      message: "The body has 16385 columns; a job takes at most 16384.",
    },
  });
});
