import { expect, test } from "bun:test";
import { DirectoryQuery } from "../../src/contract/directory-schemas.ts";
import { EmailQuery } from "../../src/contract/result-schemas.ts";
import { createReader } from "../../src/contract/schema.ts";
import { quickestMs } from "../support/duration.ts";

const email = createReader(EmailQuery);

test.each([
  "email=a&email=b",
  "email=a&email=a",
  "email=&email=",
  "email=a&deep=1&deep=1",
  "%65mail=a&email=b",
])("a known parameter that is repeated is refused: %s", (query) => {
  const read = () => email.query(`/?${query}`);
  expect(read).toThrow(/^(?:email|deep) must not be repeated\.$/);
});

test("an unknown parameter may be repeated", () => {
  expect(email.query("/?x=1&email=a&x=2")).toEqual({ email: "a" });
});

test("parameters that no route names are passed over, and none reaches a prototype", () => {
  const url = "/?__proto__=1&constructor=2&toString=3&%65mail=a%40b.co&=4";
  expect(email.query(url)).toEqual({ email: "a@b.co" });
  expect(Object.keys(email.query(url))).toEqual(["email"]);
});

test("a query full of broken escapes is read in a few milliseconds", () => {
  const directory = createReader(DirectoryQuery);
  for (const piece of ["%zz&", "%ff&", "%ff=1&", "%C3%A9&", "q%=%zz&"]) {
    const url = `/?${piece.repeat(16_384 / piece.length)}limit=5`;
    expect(quickestMs(() => directory.query(url), 5)).toBeLessThan(12);
  }
});

test("a query of parameters without a value is read in a time that grows with its length alone", () => {
  const directory = createReader(DirectoryQuery);
  const url = `/?limit=5${"&".repeat(600_000)}`;
  expect(quickestMs(() => directory.query(url), 500)).toBeLessThan(500);
});
