import { expect, test } from "bun:test";
import { createDomainLines, createDomainRecords } from "../../src/console/page/results/domain-rows.ts";
import { eachOf, resultsOf } from "../../src/console/page/results/ndjson-results.ts";

const EMAILS = ["a@good.com", "b@null.com", "c@mail.good.com", "d@notgood.com"];
const NDJSON = EMAILS.map((email, at) => `${JSON.stringify({ row: at + 1, email })}\n`).join("");
/** The address stands in no column that has a known name, and a note holds what divides rows and cells. */
const RECORDS = EMAILS.map((email) => `"said ""no"",\nthen left",${email},x\r\n`);
const HEADER = "note,whom,status\r\n";

/** Divides the text into pieces of this many characters. */
function pieces(text: string, chars: number): string[] {
  return text.match(new RegExp(`[^]{1,${chars}}`, "g")) ?? [];
}

test.each([1, 7, 10_000])(
  "CSV by domain has the header and its rows as they are, in pieces of %i",
  async (chars) => {
    const keep = createDomainRecords("Good.com", eachOf(resultsOf(new Response(NDJSON))));
    let written = "";
    for (const piece of pieces(HEADER + RECORDS.join(""), chars)) written += await keep(piece, false);
    written += await keep("", true);
    expect(written).toBe(`${HEADER}${RECORDS[0]}${RECORDS[2]}`);
  },
);

test.each([1, 7, 10_000])("NDJSON by domain has its lines as they are, in pieces of %i", (chars) => {
  const keep = createDomainLines("good.com");
  const written = pieces(NDJSON, chars).map((piece) => keep(piece, false));
  expect(written.join("") + keep("", true)).toBe(
    '{"row":1,"email":"a@good.com"}\n{"row":3,"email":"c@mail.good.com"}\n',
  );
});
