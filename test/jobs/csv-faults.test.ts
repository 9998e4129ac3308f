import { expect, test } from "bun:test";
import { readCsvRecords } from "../../src/jobs/intake/csv-records.ts";
import { createCsvText } from "../../src/jobs/intake/csv-text.ts";
import type { RecordSink } from "../../src/jobs/intake/records.ts";

const ROWS = 400;
const FAULTS = {
  "a NUL": { bytes: "\0", says: "has a NUL character." },
  "bytes that are not UTF-8": { bytes: "\xe9", says: "is not UTF-8; name the encoding with encoding=." },
} as const;

/** A list with one name a row beside its address, in Latin-1, so that each character is one byte. */
function listOf(faultyRow: number, fault: string, quoteFrom: number): Uint8Array {
  const rows = Array.from({ length: ROWS }, (_row, at) => {
    const name = at + 1 === faultyRow ? `Ren${fault}e` : "Renate";
    return at + 1 >= quoteFrom ? `"${at}@good.com","${name}, Ms."` : `${at}@good.com,${name}`;
  });
  return Buffer.from(`email,name\n${rows.join("\n")}\n`, "latin1");
}

function read(list: Uint8Array, column: string | null = null) {
  const pieces = async function* () {
    yield list;
  };
  const sink: RecordSink = { take: () => null, takeText: () => null };
  return readCsvRecords(pieces(), sink, { kind: "email", column, delimiter: null });
}

for (const [what, { bytes, says }] of Object.entries(FAULTS)) {
  for (const [where, quoteFrom] of [
    ["with quotes", 1],
    ["with quotes in its later rows", 200],
  ] as const) {
    test(`a list ${where} that has ${what} is refused with the number of the row`, async () => {
      for (const row of [1, 2, 200, 201, ROWS]) {
        const refusal = { code: "invalid_request", message: `Row ${row} ${says}` } as const;
        expect(await read(listOf(row, bytes, quoteFrom))).toEqual({ refusal });
      }
    });
  }
}

test("a NUL in a list without quotes is refused in the same words", async () => {
  const refusal = { code: "invalid_request", message: "Row 7 has a NUL character." } as const;
  expect(await read(listOf(7, "\0", ROWS + 1))).toEqual({ refusal });
});

test("of several faults the first is reported, and a name that is not UTF-8 is not reported as missing", async () => {
  const list = (text: string) => Buffer.from(text, "latin1");
  const start = '"email","name"\n"a@good.com","b"\n';
  expect(await read(list(`${start}"b@good.com","\xe9"\n"c@good.com","\0"\n`))).toMatchObject({
    refusal: { message: "Row 2 is not UTF-8; name the encoding with encoding=." },
  });
  expect(await read(list(`${start}"b@good.com","\0"\n"c@good.com","\xe9"\n`))).toMatchObject({
    refusal: { message: "Row 2 has a NUL character." },
  });
  expect(await read(list('"adr\xe9sse"\n"a@good.com"\n'), "adr\u00e9sse")).toMatchObject({
    refusal: { message: "The body is not UTF-8; name the encoding with encoding=." },
  });
});

test("characters that pieces cut are read whole, and one that the end cuts is a fault", async () => {
  const textOf = async (bytes: Uint8Array, pieceBytes: number) => {
    const pieces = async function* () {
      for (let at = 0; at < bytes.byteLength; at += pieceBytes) yield bytes.slice(at, at + pieceBytes);
    };
    const text = createCsvText(pieces());
    return { text: (await Array.fromAsync(text.pieces)).join(""), fault: text.wholeFault() };
  };
  const whole = "a\u00e9\u20ac\u{1f600}\ufeffb\u{1f600}";
  const bytes = new TextEncoder().encode(whole);
  for (let pieceBytes = 1; pieceBytes <= bytes.byteLength; pieceBytes++) {
    expect(await textOf(bytes, pieceBytes)).toEqual({ text: whole, fault: null });
    for (const cut of [1, 2, 3]) {
      const { text, fault } = await textOf(bytes.slice(0, -cut), pieceBytes);
      expect([text, fault?.message]).toEqual([
        `${whole.slice(0, -2)}\0`,
        "The body is not UTF-8; name the encoding with encoding=.",
      ]);
    }
    // What is behind a fault goes on where that ends, wherever the pieces are cut.
    const broken = Buffer.concat([bytes, new Uint8Array([0xff]), bytes]);
    expect((await textOf(broken, pieceBytes)).text.split("\0")[0]).toBe(whole);
  }
});
