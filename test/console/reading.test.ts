import { describe, expect, test } from "bun:test";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { type CsvDialect, createCsvReader } from "../../src/console/page/reading/csv-rows.ts";
import { createDistinctCount } from "../../src/console/page/reading/distinct-count.ts";
import type { ReadReport, ReadRequest } from "../../src/console/page/reading/messages.ts";
import { readList } from "../../src/console/page/reading/read-list.ts";
import { type CsvForm, csvFormOf } from "../../src/tables/csv-form.ts";
import { csvRecords } from "../../src/tables/csv-rows.ts";
import { TableError } from "../../src/tables/table-error.ts";

function rowsOf(text: string, dialect: CsvDialect, pieceChars: number): string[][] {
  const rows: string[][] = [];
  const reader = createCsvReader(dialect, (cells) => rows.push([...cells]));
  for (let at = 0; at < text.length; at += pieceChars) reader.push(text.slice(at, at + pieceChars));
  reader.end();
  return rows;
}

/** Null for a text that the server refuses. */
async function serverRowsOf(text: string, form: CsvForm): Promise<string[][] | null> {
  async function* whole() {
    yield text;
  }
  try {
    return (await Array.fromAsync(csvRecords("list", whole(), form))).flat().map((cells) => [...cells]);
  } catch (error) {
    if (error instanceof TableError) return null;
    throw error;
  }
}

async function reportsOf(request: Partial<ReadRequest> & Pick<ReadRequest, "file">): Promise<ReadReport[]> {
  const reports: ReadReport[] = [];
  const options = { kind: "email", column: null, delimiter: null, encoding: null } as const;
  await readList({ ...options, ...request }, (report) => reports.push(report));
  return reports;
}

const fileOf = (text: string | Uint8Array<ArrayBuffer>, name = "people.csv") => new File([text], name);

describe("the reading of a list before it is sent", () => {
  test("cells are those that the server reads, wherever the text is divided", () => {
    const cell = fc.oneof(fc.string(), fc.constantFrom('"', '""', ",", "\n", "\r\n", "a b", ""));
    const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(table, fc.integer({ min: 1, max: 7 }), (rows, pieceChars) => {
        const text = rows
          .map((row) => row.map((each) => `"${each.replaceAll('"', '""')}"`).join(";"))
          .join("\r\n");
        const expected: string[][] = parse(text, { delimiter: ";", relax_column_count: true });
        expect(rowsOf(text, { ...csvFormOf(text), delimiter: ";" }, pieceChars)).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  test("malformed quotes and stray carriage returns are read as the server reads them", async () => {
    const token = fc.constantFrom('"', '""', "a", " ", ";", "\n", "\r\n", "\r");
    const text = fc.array(token, { maxLength: 10 }).map((tokens) => tokens.join(""));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 3 }), async (text, pieceChars) => {
        const form = { ...csvFormOf(text), delimiter: ";" };
        const expected = await serverRowsOf(text, form);
        if (expected !== null) expect(rowsOf(text, form, pieceChars)).toEqual(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  test("five rows, the column, the delimiter and the duplicates are found", async () => {
    const rows = Array.from({ length: 1000 }, (_, at) => `Name ${at};user${at % 900}@good.com`);
    const [preview, counted] = (await reportsOf({ file: fileOf(`name;email\n${rows.join("\n")}\n`) })).filter(
      ({ type }) => type !== "progress",
    );
    expect(preview).toMatchObject({
      type: "preview",
      preview: { delimiter: ";", columns: ["name", "email"], hasHeader: true, column: 2 },
    });
    expect(preview?.type === "preview" ? preview.preview.rows.length : 0).toBe(5);
    expect(counted).toEqual({ type: "counted", rows: 1000, distinct: 900 });
  });

  test("where no column stands out none is chosen", async () => {
    const [preview] = await reportsOf({ file: fileOf("a,b\nx@good.com,y@good.com\n") });
    expect(preview).toMatchObject({ preview: { column: null, columns: ["a", "b"] } });
  });

  test("a named column and encoding are taken", async () => {
    const bytes = new Uint8Array([...Buffer.from("mail|other\nj\u00f6rg@good.com|x\n", "latin1")]);
    const [preview] = await reportsOf({ file: fileOf(bytes), column: 1, encoding: "windows-1252" });
    expect(preview).toMatchObject({ preview: { column: 1, rows: [["j\u00f6rg@good.com", "x"]] } });
  });

  test("lines of text and of NDJSON are items", async () => {
    const text = await reportsOf({ file: fileOf("a@good.com\n\nb@good.com\na@good.com\n", "a.txt") });
    expect(text.at(-1)).toEqual({ type: "counted", rows: 3, distinct: 2 });
    const json = await reportsOf({ file: fileOf('"a@good.com"\n{"email":"a@good.com"}\n', "a.jsonl") });
    expect(json.at(-1)).toEqual({ type: "counted", rows: 2, distinct: 1 });
  });

  test.each([
    ["people.ndjson", '"a@good.com"\n', "ndjson"],
    ["people.json", '{"email":"a@good.com"}\n{"email":"b@good.com"}\n', "ndjson"],
    ["people", "a@good.com\nb@good.com\n", "text"],
    ["people", "name,email\n", "csv"],
    // A spreadsheet's "Unicode text".
    ["people.txt", "\ufeffname\temail\r\nA\ta@good.com\r\n", "csv"],
  ])("the form of %s is the one that the command line finds", async (name, text, form) => {
    const [first] = await reportsOf({ file: fileOf(text, name) });
    expect(first).toMatchObject({ type: "preview", preview: { form } });
  });

  test.each(["people.json", "people.csv", "people.txt", "people"])(
    "one piece of JSON, in %s, is refused with a sentence",
    async (name) => {
      for (const text of [
        '["a@good.com","b@good.com"]',
        '{\n  "emails": []\n}',
        '\n[\n  "a@good.com"\n]\n',
      ]) {
        await expect(reportsOf({ file: fileOf(text, name) })).rejects.toThrow(
          `${name} is one piece of JSON: write an item a line`,
        );
      }
    },
  );

  test.each([
    ["book.xlsx", Buffer.from("504b030414000600", "hex"), "not text but a ZIP archive, as XLSX files are"],
    ["packed.csv", Bun.gzipSync("email\na@good.com\n"), "not text but gzip: unpack it first"],
    ["unmarked.csv", Buffer.from("email\na@good.com\n", "utf16le"), "UTF-16 without its byte order mark"],
    ["latin.csv", Buffer.from("email\njosé@good.com\n", "latin1"), "not utf-8 text: choose its encoding."],
  ])("what the server would refuse is refused before it is sent: %s", async (name, bytes, sentence) => {
    const file = fileOf(new Uint8Array(bytes), name);
    await expect(reportsOf({ file })).rejects.toThrow(`${name} is ${sentence}`);
  });

  test("a character whose bytes come in two pieces is read whole", async () => {
    const file = fileOf(`email\n${"é".repeat(300_000)}@good.com\n`);
    expect((await reportsOf({ file })).at(-1)).toEqual({ type: "counted", rows: 1, distinct: 1 });
  });

  test("distinct texts are counted exactly", () => {
    const count = createDistinctCount();
    for (let at = 0; at < 400_000; at++) count.add(`user${at % 250_000}@d${at % 5}.com`);
    expect(count.count()).toBe(250_000);
  });
});
