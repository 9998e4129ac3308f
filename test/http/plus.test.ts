import { expect, test } from "bun:test";
import { restorePlus, restorePlusOfPhone } from "../../src/http/plus.ts";

test.each([
  ["john news@example.com", "john+news@example.com"],
  ["john @example.com", "john+@example.com"],
  ["a b c@example.com", "a+b+c@example.com"],
  [" john news@example.com ", " john+news@example.com "],
])("a lone space in a local part was a plus: %p", (sent, meant) => {
  expect(restorePlus(sent)).toBe(meant);
});

test.each([
  ...["a  b@example.com", " john@example.com", "john@ example.com", "john news", "a b"],
  ...[
    "Ann <ann@example.com>",
    '"john doe"@example.com',
    "a@example.com\r\nBcc: x@y.com",
    "a (b c)@example.com",
  ],
])("other spaces stay: %p", (email) => {
  expect(restorePlus(email)).toBe(email);
});

test.each([
  [" 1 213 373 4253", "+1 213 373 4253"],
  ["( 44) 20 7946 0018", "(+44) 20 7946 0018"],
  ["tel: 1-213-373-4253", "tel:+1-213-373-4253"],
  ["TEL: 44 20", "TEL:+44 20"],
  ["tel:373-4253;phone-context= 1-213", "tel:373-4253;phone-context=+1-213"],
])("a lone space where a phone number begins was a plus: %p", (sent, meant) => {
  expect(restorePlusOfPhone(sent)).toBe(meant);
});

test.each(["  44 20", "(020) 7946 0018", "020 7946 0018", "1 (213) 373", "+1 (213) 373"])(
  "other spaces stay: %p",
  (phone) => {
    expect(restorePlusOfPhone(phone)).toBe(phone);
  },
);
