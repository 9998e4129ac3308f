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

test.each(["", '"'])(
  "the names of the columns have at most 1,048,576 bytes as JSON, with the quote %p in a row",
  async (quote) => {
    const row = `\n${quote}a@good.com${quote}\n`;
    // As JSON it is six bytes, and the one name of a list has four around it.
    for (const [character, most, bytes] of [
      ["\u0001", 174_762, 1_048_582],
      ["x", 1_048_572, 1_048_577],
    ] as const) {
      expect(await read(character.repeat(most) + row)).toMatchObject({ table: { index: 0 } });
      expect(await read(character.repeat(most + 1) + row)).toEqual({
        refusal: {
          code: "invalid_request",
          message: `The body has a header of ${bytes} bytes as JSON; a job takes at most 1048576.`,
        },
      });
    }
  },
);
