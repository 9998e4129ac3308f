import { expect, test } from "bun:test";
import fc from "fast-check";
import { readQuery } from "../../src/contract/query-string.ts";

const NAMES = ["email", "deep", "a b"];

function read(url: string): [name: string, value: string][] {
  const found: [string, string][] = [];
  readQuery(url, NAMES, (name, value) => found.push([name, value]));
  return found;
}

test("parameters are read as browsers read them, however they are encoded", () => {
  const piece = fc.constantFrom(
    ...["email", "deep", "emai", "%65mail", "a+b", "a%20b", "=", "=", "&", "&", "?", "+", "%", "%4", "%zz"],
    ...["%40", "%2B", "%26", "%3d", "%00", "%7F", "%ff", "%C3%A9", "%C3", "%E2%82%AC", "jane", ".", "é"],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const query = pieces.join("");
      const asBrowsers = [...new URLSearchParams(`&${query}`)].filter(([name]) => NAMES.includes(name));
      expect(read(`http://localhost/v1/email/verify?${query}`)).toEqual(asBrowsers);
    }),
    { numRuns: 20_000 },
  );
});

test("an address without a query has no parameters", () => {
  expect(read("http://localhost/v1/email/verify")).toEqual([]);
  expect(read("http://localhost/v1/email/verify?")).toEqual([]);
});
