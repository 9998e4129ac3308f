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
    `${HEADER}\n'=1+1,"'=2+2","a ""=3""",'+5511,'-4,"'\n=5"\n"",'@SUM(1),"'\t=6",plain,"",\n`,
  );
});

test("a byte order mark hides no formula in the first name", () => {
  expect(guarded("\ufeff=1+1,status\n=2,a\n")).toBe("\ufeff'=1+1,status\n'=2,a\n");
  expect(guarded('\ufeff"=1+1",status\n', 2)).toBe('\ufeff"\'=1+1",status\n');
});

test("the delimiter is that of the header", () => {
  const header = HEADER.replaceAll(",", ";");
  expect(guarded(`${header}\n=a;=b,=c\n`)).toBe(`${header}\n'=a;'=b,=c\n`);
});

test("no cell of any table is run, wherever the text is divided", () => {
  const cell = fc.oneof(
    fc.string(),
    fc.constantFrom("=1", "+1", "-1", "@a", "\t=", "\r=", '"', '""', ",", "\n"),
  );
  const table = fc.array(fc.array(cell, { minLength: 6, maxLength: 6 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(table, fc.integer({ min: 1, max: 9 }), (rows, pieceChars) => {
      const quoted = rows.map((row) => row.map((each) => `"${each.replaceAll('"', '""')}"`).join(","));
      const text = `${HEADER}\n${quoted.join("\n")}\n`;
      const read: string[][] = parse(guarded(text, pieceChars), { from_line: 2, record_delimiter: "\n" });
      const risky = (each: string) => /^[=+\-@\t\r\n]/.test(each);
      expect(read.length).toBe(rows.length);
      for (const [at, row] of read.entries()) {
        expect(
          row.map((each) => (each.startsWith("'") && risky(each.slice(1)) ? each.slice(1) : each)),
        ).toEqual(
          (rows[at] ?? []).map((each) =>
            each.startsWith("'") && risky(each.slice(1)) ? each.slice(1) : each,
          ),
        );
        expect(row.filter(risky)).toEqual([]);
      }
    }),
    { numRuns: 300 },
  );
});
