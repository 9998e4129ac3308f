import { expect, test } from "bun:test";
import { lockedOutAt } from "../../src/console/page/state/locked-out-at.ts";
import type { Key } from "../../src/console/page/wire/bodies.ts";

const NOW_MS = Date.parse("2026-08-01T12:00:00Z");
const PAST = "2026-08-01T12:00:00Z";
const SOON = "2026-08-08T00:00:00Z";
const LATER = "2026-09-01T00:00:00Z";

function keyOf(keyId: string, fields: Partial<Key> = {}): Key {
  const moments = { last_used_at: null, expires_at: null, rotates_at: null, revoked_at: null };
  const rest = { name: null, hint: "asy_…abcd", mode: "live", created_at: "2026-07-01T00:00:00Z" } as const;
  return { key_id: keyId, scopes: ["account"], ...rest, ...moments, ...fields };
}

const own = keyOf("key_own");

test.each([
  [
    "all others end: when the last one does",
    [keyOf("a", { expires_at: SOON }), keyOf("b", { expires_at: LATER })],
    LATER,
  ],
  ["another has no end", [keyOf("a", { expires_at: SOON }), keyOf("b")], null],
  ["a test key counts for nothing", [keyOf("a", { expires_at: SOON }), keyOf("b", { mode: "test" })], SOON],
  [
    "a scope that cannot manage does, too",
    [keyOf("a", { expires_at: SOON }), keyOf("b", { scopes: ["read"] })],
    SOON,
  ],
  ["a revoked key does, too", [keyOf("a", { expires_at: SOON }), keyOf("b", { revoked_at: PAST })], SOON],
  ["all others have ended: the server refuses", [keyOf("a", { expires_at: PAST })], null],
  ["there is no other: the server refuses", [], null],
] as const)("who revokes a key hears when the account is locked out: %s", (_, others, expected) => {
  const at = lockedOutAt([own, ...others], own, NOW_MS);
  expect(at === null ? null : Date.parse(at)).toBe(expected === null ? null : Date.parse(expected));
});

test("a key that ends before another, or cannot manage the account, locks nobody out", () => {
  const ending = keyOf("key_ending", { expires_at: SOON });
  expect(lockedOutAt([ending, keyOf("b", { expires_at: LATER })], ending, NOW_MS)).toBeNull();
  const reading = keyOf("key_reading", { scopes: ["read"] });
  expect(lockedOutAt([reading, keyOf("b", { expires_at: SOON })], reading, NOW_MS)).toBeNull();
});
