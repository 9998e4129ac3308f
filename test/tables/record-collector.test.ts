import { expect, test } from "bun:test";
import type { CsvForm } from "../../src/tables/csv-form.ts";
import { csvRecords } from "../../src/tables/csv-rows.ts";

const FORM = { delimiter: ",", lineEnds: ["\r\n", "\n"], rowsBefore: 0 };
const CR_FORM = { ...FORM, lineEnds: ["\r"] };
const PIECE_CHARS = 65_536;

async function* pieces(text: string, chars: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += chars) yield text.slice(at, at + chars);
}

async function cellsOf(text: string, form: CsvForm = FORM, pieceChars = PIECE_CHARS): Promise<string[]> {
  const cells: string[] = [];
  for await (const run of csvRecords("people.csv", pieces(text, pieceChars), form)) {
    for (const record of run) for (const cell of record) cells.push(cell);
  }
  return cells;
}

const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;

test("an unclosed quote that swallows rows is refused, whatever they end with", async () => {
  for (const [lineEnd, form] of [
    ["\n", FORM],
    ["\r\n", FORM],
    ["\r", CR_FORM],
  ] as const) {
    const rows = ["email", '"ann@x.com', "bob@x.com", 'carl" x', "dora@x.com"].join(lineEnd);
    await expect(cellsOf(rows, form)).rejects.toThrow("a quote is opened in row 2 and never closed there");
    const closed = `"""ann""${lineEnd}b"${lineEnd}"c"${lineEnd}`;
    expect(await cellsOf(closed, form)).toEqual([`"ann"${lineEnd}b`, "c"]);
  }
  // In the rows of a file that end with LF a CR is a character as others are.
  expect(await cellsOf('"a\rb" x\nc\n')).toEqual(['"a\rb" x', "c"]);
});

test("a cell that begins with a quote and contains a line end may be as long as a row, and come in pieces of any length", async () => {
  for (const [letters, pieceChars] of [
    [40, 1],
    [1_000, 7],
    [1_000_000, PIECE_CHARS],
  ] as const) {
    const cells = ["a", `"Hello"\n${"x".repeat(letters)}`, '"\n"', "b"];
    const row = `${cells.map(quoted).join(",")}\n`;
    expect(await cellsOf(row + row, FORM, pieceChars)).toEqual([...cells, ...cells]);
  }
});

test("a row without an end is refused, also where its cells are empty", async () => {
  await expect(cellsOf(`email,"a"\n${'"",'.repeat(900_000)}`)).rejects.toThrow("row 2 is too long");
  expect(await cellsOf(`"a"\n${"\n".repeat(2_200_000)}b\n`)).toEqual(["a", "b"]);
});
