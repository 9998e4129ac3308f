import { expect, test } from "bun:test";
import { DirectoryQuery } from "../../src/contract/directory-schemas.ts";
import { EmailQuery } from "../../src/contract/result-schemas.ts";
import { createReader } from "../../src/contract/schema.ts";
import { quickestMs } from "../verification/email/duration.ts";

const email = createReader(EmailQuery);

test("of a parameter that is repeated the first counts, whatever the others are", () => {
  expect(email.query("/?email=a%40b.co&email=c%40d.co")).toEqual({ email: "a@b.co" });
  expect(email.query("/?email=a%40b.co&deep=1&deep=0&deep=perhaps")).toEqual({ email: "a@b.co", deep: true });
});

test("parameters that no route names are passed over, and none reaches a prototype", () => {
  const url = "/?__proto__=1&constructor=2&toString=3&email=a%40b.co&=4&%65mail=c%40d.co";
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
