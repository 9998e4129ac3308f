import { expect, test } from "bun:test";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { createFormulaGuard } from "../../src/console/page/results/formulas.ts";

const HEADER = "name,email,status,sub_status,score,normalized";

/** Guards a text that comes in pieces of this many characters. */
function guarded(text: string, pieceChars = text.length): string {
  const guard = createFormulaGuard();
  let written = "";
  for (let at = 0; at < text.length; at += pieceChars)
    written += guard(text.slice(at, at + pieceChars), false);
  return written + guard("", true);
}

test("a cell that a spreadsheet would run begins with an apostrophe, and nothing else changes", () => {
  const text = `${HEADER}\n=1+1,"=2+2","a ""=3""",+5511,-4,"\n=5"\n"",@SUM(1),"\t=6",plain,"",\n`;
  expect(guarded(text)).toBe(
    `${HEADER}\n'=1+1,"'=2+2","a ""=3""",'+5511,'-4,"'\n'=5"\n"",'@SUM(1),"'\t'=6",plain,"",\n`,
  );
});

test("a byte order mark hides no formula in the first name", () => {
  expect(guarded("\ufeff=1+1,status\n=2,a\n")).toBe("\ufeff'=1+1,status\n'=2,a\n");
  expect(guarded('\ufeff"=1+1",status\n', 2)).toBe('\ufeff"\'=1+1",status\n');
});

test("a formula begins with an apostrophe whichever separator a spreadsheet goes by", () => {
  const header = HEADER.replaceAll(",", ";");
  expect(guarded(`${header}\n=a;=b,=c\n`)).toBe(`${header}\n'=a;'=b,'=c\n`);
  expect(guarded(`${HEADER}\nx;=1,y|+2,"a\t@3;b"\n`)).toBe(`${HEADER}\nx;'=1,y|'+2,"a\t'@3;b"\n`);
  expect(guarded(`${HEADER}\na,"b\n=1;c","d;""=2;e"\n`)).toBe(`${HEADER}\na,"b\n'=1;c","d;""'=2;e"\n`);
});

test("a tab is risky where it does not separate cells", () => {
  const header = HEADER.replaceAll(",", "\t");
  expect(guarded(`${header}\na\t\tb\t=c\n`)).toBe(`${header}\na\t\tb\t'=c\n`);
  expect(guarded(`${HEADER}\na,\tb\n`)).toBe(`${HEADER}\na,'\tb\n`);
});

test("a header full of other delimiters hides no formula", () => {
  const [row, guardedRow] = ["a@b.com,=1+1,=2;", "a@b.com,'=1+1,'=2;"];
  const header = `email${";".repeat(40)},note`;
  expect(guarded(`${header}\n${row}\n`)).toBe(`${header}\n${guardedRow}\n`);
});

test("no cell of any table is run, wherever the text is divided", () => {
  const cell = fc.oneof(
    fc.string(),
    fc.constantFrom(
      "=1",
      "+1",
      "-1",
      "@a",
      "\t=",
      "\r=",
      '"',
      '""',
      ",",
      "\n",
      "a;=1",
      "a\n=1",
      '";"=1',
      "a,-1",
    ),
  );
  const table = fc.array(fc.array(cell, { minLength: 6, maxLength: 6 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(table, fc.integer({ min: 1, max: 9 }), (rows, pieceChars) => {
      const quoted = rows.map((row) => row.map((each) => `"${each.replaceAll('"', '""')}"`).join(","));
      const text = `${HEADER}\n${quoted.join("\n")}\n`;
      const safe = guarded(text, pieceChars);
      expect(safe).not.toMatch(/(?:^|[,;\t|\r\n])[\ufeff"]*[=+\-@\uff1d\uff0b\uff0d\uff20]/);
      const read: string[][] = parse(safe, { from_line: 2, record_delimiter: "\n" });
      expect(read.flat().filter((each) => /^[=+\-@\t\r\n]/.test(each))).toEqual([]);
      const withoutApostrophes = (table: string[][]) =>
        table.map((row) => row.map((each) => each.replaceAll("'", "")));
      expect(withoutApostrophes(read)).toEqual(withoutApostrophes(rows));
    }),
    { numRuns: 300 },
  );
});
