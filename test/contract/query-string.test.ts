import { expect, test } from "bun:test";
import fc from "fast-check";
import { readQuery } from "../../src/contract/query-string.ts";

const NAMES = ["email", "deep", "a b"];

function read(url: string): [name: string, value: string][] {
  const found: [string, string][] = [];
  readQuery(url, NAMES, (name, value) => found.push([name, value]));
  return found;
}

const PIECES = [
  ...["email=", "&email=", "&deep=", "&deep="],
  ...["email", "deep", "emai", "%65mail", "a+b", "a%20b", "=", "=", "&", "&", "?", "+", "%", "%4", "%zz"],
  ...["%40", "%2B", "%26", "%3d", "%00", "%7F", "%C3%A9", "%E2%82%AC", "%EF%BB%BF", "jane", ".", "é"],
  // Octets that are no UTF-8: alone, cut off, overlong, of a surrogate, beyond the last character.
  ...["%ff", "%C3", "%e2%82", "%C0%AF", "%ED%A0%80", "%F4%90%80%80"],
];

test("parameters are read as browsers read them, and those that are not UTF-8 refused with their name", () => {
  const outcomes = { read: 0, refused: 0 };
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }), (pieces) => {
      const query = pieces.join("");
      const url = `http://localhost/v1/email/verify?${query}`;
      const asBrowsers = [...new URLSearchParams(`&${query}`)].filter(([name]) => NAMES.includes(name));
      const [lost] = asBrowsers.find(([, value]) => value.includes("\ufffd")) ?? [];
      outcomes[lost === undefined ? "read" : "refused"] += 1;
      if (lost === undefined) expect(read(url)).toEqual(asBrowsers);
      else expect(() => read(url)).toThrow(`${lost} must be UTF-8, each octet of it written as %XX.`);
    }),
    { numRuns: 20_000 },
  );
  expect(Math.min(outcomes.read, outcomes.refused)).toBeGreaterThan(500);
});

test("the character that browsers write for lost octets is read where it was sent", () => {
  expect(read("/?email=%EF%BF%BD%zz")).toEqual([["email", "\ufffd%zz"]]);
});

test("an address without a query has no parameters", () => {
  expect(read("http://localhost/v1/email/verify")).toEqual([]);
  expect(read("http://localhost/v1/email/verify?")).toEqual([]);
});
