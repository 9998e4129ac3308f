import { expect, test } from "bun:test";
import { decodePercent } from "../../src/platform/percent-escapes.ts";

test.each([
  ["", ""],
  ["a+b/%40%2F", "a+b/@/"],
  ["%C3%A9", "é"],
  ["%00", "\0"],
])("%p is decoded", (text, decoded) => {
  expect(decodePercent(text)).toBe(decoded);
});

test.each(["%", "%4", "%zz", "%ff", "%E0%A4%A", "ok%C3"])("%p has an escape of no character", (text) => {
  expect(decodePercent(text)).toBeNull();
});
