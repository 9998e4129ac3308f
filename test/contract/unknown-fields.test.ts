import { expect, test } from "bun:test";
import { EmailQuery } from "../../src/contract/result-schemas.ts";
import { createReader } from "../../src/contract/schema.ts";

const email = createReader(EmailQuery);

test("fields of a body that no schema names are not looked at, however wrong the others are", () => {
  const unread = { enumerable: true, get: () => expect.unreachable("an unknown field was read") };
  const body = (fields: object) => Object.defineProperties(fields, { other: unread });
  expect(email.body(body({ email: "a", deep: null }))).toEqual({ email: "a" });
  expect(() => email.body(body({ email: 1 }))).toThrow("email must be a string.");
  expect(() => email.body(body({ deep: true }))).toThrow("email is required.");
});

test("no field of a body reaches a prototype", () => {
  const read = email.body(JSON.parse('{"email":"a","__proto__":{"deep":true},"constructor":1}'));
  expect([Object.keys(read), read.deep]).toEqual([["email"], undefined]);
});
