import { expect, test } from "bun:test";
import { systemRandomBytes } from "../../src/accounts/api-key.ts";
import { createKeys } from "../../src/accounts/key-list.ts";
import { ApiError } from "../../src/contract/errors.ts";
import { handClock, openAccounting, signUp } from "../billing/accounting.ts";

test("a rotation announces the end that the old key has, which no later overlap puts off", () => {
  const clock = handClock("2026-11-20T12:00:00Z");
  const accounting = openAccounting({ clock });
  const { accountId, apiKey } = signUp(accounting);
  const keyId = accounting.keyRing.find(apiKey)?.keyId ?? "";
  const rotate = (id: string, overlapSeconds: number) =>
    accounting.accounts.rotateKey(accountId, { overlapSeconds, keyId: id }).oldKeyExpiresAt;
  expect(rotate(keyId, 10)).toBe("2026-11-20T12:00:10Z");
  expect(rotate(keyId, 3_600)).toBe("2026-11-20T12:00:10Z");
  expect(rotate(keyId, 5)).toBe("2026-11-20T12:00:05Z");
  const fields = { name: null, scopes: null, expiresAt: "2026-11-20T13:00:00Z" };
  const keys = createKeys({ ...accounting, randomBytes: systemRandomBytes });
  const passing = keys.create(accountId, fields);
  expect(rotate(passing.key_id, 86_400)).toBe("2026-11-20T13:00:00Z");
  const listed = keys.list(accountId).data;
  expect(listed.find(({ key_id }) => key_id === passing.key_id)?.expires_at).toBe("2026-11-20T13:00:00Z");
});

test("at most 100 keys work: where they do, a key is rotated only without an overlap", () => {
  const accounting = openAccounting({ clock: handClock() });
  const { accountId, apiKey } = signUp(accounting);
  const keyId = accounting.keyRing.find(apiKey)?.keyId ?? "";
  const rotate = (overlapSeconds: number) =>
    accounting.accounts.rotateKey(accountId, { overlapSeconds, keyId });
  const working = () => accounting.store.listKeys(accountId, accounting.clock.now()).length;
  for (let count = 1; count < 100; count += 1) rotate(3_600);
  expect(working()).toBe(100);
  const refused = new ApiError(
    "invalid_request",
    "An account has at most 100 keys that work: delete one, or rotate without an overlap.",
  );
  expect(() => rotate(3_600)).toThrow(refused);
  expect(working()).toBe(100);
  const { apiKey: next } = rotate(0);
  expect(working()).toBe(100);
  expect(accounting.keyRing.find(apiKey)).toBeNull();
  expect(accounting.keyRing.find(next)?.accountId).toBe(accountId);
});
