import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createRowSplitter, FormatError } from "../../src/directory/upstream/row-splitter.ts";

const LIMITS = { rowBytesMax: 400, rowsMax: 1000 };

function split(text: string, sizes: readonly number[] = [text.length], limits = LIMITS) {
  const rows: (string | null)[] = [];
  const splitter = createRowSplitter(limits, (row) => {
    rows.push(row === null ? null : new TextDecoder().decode(row));
  });
  const bytes = new TextEncoder().encode(text);
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? 1);
    splitter.push(bytes.slice(at, at + size));
    at += size;
  }
  const envelope = splitter.end();
  return { rows: rows.map((row) => (row === null ? null : row.trim())), envelope };
}

const ROWS = [
  '{"host":"a.example","x":"},{[ \\" \\\\"}',
  '{"host":"ü.example","list":[1,[2,{"y":"]"}]]}',
  "{}",
];

describe("createRowSplitter", () => {
  const forms: readonly [string, string, object][] = [
    ["JSON lines", ROWS.join("\n"), {}],
    ["JSON lines with blank and CRLF ends", `\n${ROWS.join("\r\n\r\n")}\r\n\n`, {}],
    ["an array", `[${ROWS.join(",")}]`, {}],
    ["a spread array", ` [\n ${ROWS.join(" ,\n ")}\n]\n`, {}],
    [
      "listings in an object",
      `{"version":3,"listings":[${ROWS.join(",")}],"cursor":"c"}`,
      { version: 3, cursor: "c" },
    ],
    ["items in an object", `{"items" : [${ROWS.join(",")}]}`, {}],
    ["data in a spread object", `{\n "meta": {"listings": [1, 2]},\n "data": [\n${ROWS.join(",\n")}]\n}`, {}],
    ["a byte order mark", `\ufeff[${ROWS.join(",")}]`, {}],
  ];
  test.each(forms)("reads %s, wherever the chunks end", (_, text, said) => {
    expect(split(text).rows).toEqual(ROWS);
    expect(split(text).envelope).toMatchObject(said);
    for (const size of [1, 2, 3, 7]) expect(split(text, [size]).rows).toEqual(ROWS);
  });

  test("returns the same rows for any JSON values in any chunks", () => {
    const values = fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })), { maxLength: 5 });
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(values, sizes, (objects, chunks) => {
        const limits = { rowBytesMax: 100_000, rowsMax: 1000 };
        const records = objects.map((fields) => ({ host: "a.example", ...fields }));
        const texts = records.map((record) => JSON.stringify(record));
        expect(split(texts.join("\n"), chunks, limits).rows).toEqual(texts);
        expect(split(`[${texts.join(",")}]`, chunks, limits).rows).toEqual(texts);
        expect(split(`{"data":[${texts.join(",")}]}`, chunks, limits).rows).toEqual(texts);
      }),
    );
  });

  test("emits an invalid line unchanged and continues after it", () => {
    expect(split('{"host":"a"}\n{"host":\nnonsense\n{"host":"b"}\n').rows).toEqual([
      '{"host":"a"}',
      '{"host":',
      "nonsense",
      '{"host":"b"}',
    ]);
  });

  test("recovers after an invalid first line", () => {
    const good = Array.from({ length: 20 }, (_, n) => `{"host":"service-${n}.example"}`);
    expect(split(['{"host":"a', ...good].join("\n")).rows.slice(1)).toEqual(good);
  });

  test("accepts a complete last line without a line end, and skips a blank one", () => {
    expect(split(`${ROWS[0]}\n${ROWS[1]} \t`).rows).toEqual([ROWS[0] ?? "", ROWS[1] ?? ""]);
    expect(split(`${ROWS[0]}\n \t\r`).rows).toEqual([ROWS[0] ?? ""]);
    expect(split(`${ROWS[0]}\n\n  `, [1]).rows).toEqual([ROWS[0] ?? ""]);
  });

  test("refuses JSON lines that are truncated anywhere inside a row", () => {
    const last = ROWS[1] ?? "";
    for (let length = 1; length < last.length; length++) {
      expect(() => split(`${ROWS[0]}\n${last.slice(0, length)}`)).toThrow(FormatError);
    }
  });

  test("reads a listing that contains a list as a line", () => {
    const row = '{"host":"a.example","items":[1]}';
    expect(split(`${row}\n${row}`).rows).toEqual([row, row]);
  });

  test("drops a row that is too long and continues after it", () => {
    const long = `{"host":"${"x".repeat(500)}"}`;
    expect(split(`${ROWS[0]}\n${long}\n${ROWS[2]}`).rows).toEqual([ROWS[0] ?? "", null, ROWS[2] ?? ""]);
    expect(split(`[${ROWS[0]},${long},${ROWS[2]}]`).rows).toEqual([ROWS[0] ?? "", null, ROWS[2] ?? ""]);
  });

  test("an empty body, array or object has no rows", () => {
    for (const text of ["", "\n", "[]", '{"listings":[]}']) expect(split(text).rows).toEqual([]);
  });

  const broken: readonly [string, string][] = [
    ["HTML", "<!doctype html>"],
    ["a number", "12"],
    ["a string", '"listings"'],
    ["an array that is cut off", '[{"host":"a"},'],
    ["an array that is cut inside a row", '[{"host":"a'],
    ["a first row that is cut off", '{"host":'],
    ["an object that is cut before the array", '{"version":3,"list'],
    ["a last row that is too long to know whether it is whole", `{}\n{"host":"${"x".repeat(500)}"}`],
    ["an object that is cut inside the array", '{"listings":[{"host":"a"}'],
    ["an object that is cut behind the array", '{"listings":[{"host":"a"}]'],
    ["an array with something behind it", "[{}] x"],
    ["an array with nothing between two commas", "[{},,{}]"],
    ["an array of commas", "[ , ]"],
    ["more rows than allowed", "{}\n".repeat(1001)],
  ];
  test.each(broken)("refuses %s", (_, text) => {
    expect(() => split(text)).toThrow(FormatError);
    expect(() => split(text, [3])).toThrow(FormatError);
  });
});
