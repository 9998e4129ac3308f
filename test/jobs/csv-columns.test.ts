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

test("the names of the columns have at most 262,144 characters, and the cells of a list without names more", async () => {
  const header = (chars: number) => `email,${"a".repeat(chars - "email".length)}`;
  expect(await read(`${header(262_144)}\na@good.com,b\n`)).toMatchObject({ table: { index: 0 } });
  expect(await read(`${header(262_145)}\na@good.com,b\n`)).toEqual({
    refusal: {
      code: "invalid_request",
      message: "The body has a header of 262145 characters; a job takes at most 262144.",
    },
  });
  expect(await read(`a@good.com,${"b".repeat(300_000)}\n`)).toMatchObject({ table: { index: 0 } });
});
