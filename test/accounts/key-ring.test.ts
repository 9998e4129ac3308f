import { expect, test } from "bun:test";
import { makeApiKey, systemRandomBytes } from "../../src/accounts/api-key.ts";
import { createKeyRing } from "../../src/accounts/key-ring.ts";
import { handClock, openParts, signUp } from "../billing/parts.ts";

/** Counts how often the database is asked for a key. */
function countingParts() {
  const parts = openParts({ clock: handClock() });
  const asked = { keys: 0 };
  const findKey = (hash: string) => {
    asked.keys += 1;
    return parts.store.findKey(hash);
  };
  const keyRing = createKeyRing({ ...parts, store: { ...parts.store, findKey } });
  return { parts, asked, keyRing };
}

test("a key is looked up once, an unknown one too, and a mistyped one never", () => {
  const { parts, asked, keyRing } = countingParts();
  const { accountId, apiKey } = signUp(parts, "growth");
  for (let count = 0; count < 10; count += 1) {
    expect(keyRing.find(apiKey)).toMatchObject({ accountId, plan: { plan: "growth", maxBatchSize: 10_000 } });
  }
  expect(asked.keys).toBe(1);
  const unknown = makeApiKey(systemRandomBytes);
  for (let count = 0; count < 10; count += 1) expect(keyRing.find(unknown)).toBeNull();
  expect(asked.keys).toBe(2);
  expect(keyRing.find(`${apiKey.slice(0, -1)}!`)).toBeNull();
  expect(keyRing.find("")).toBeNull();
  expect(asked.keys).toBe(2);
  parts.clock.advance(5_001);
  expect(keyRing.find(apiKey)?.accountId).toBe(accountId);
  expect(asked.keys).toBe(3);
});

test("a plan that was changed in the database alone is seen by every key within five seconds", () => {
  const parts = openParts({ clock: handClock() });
  const { accountId, apiKey } = signUp(parts);
  const { apiKey: next } = parts.accounts.rotateKey(accountId, { overlapSeconds: 3_600 });
  const plans = () => [apiKey, next].map((key) => parts.keyRing.find(key)?.plan.plan);
  expect(plans()).toEqual(["free", "free"]);
  const decision = { plan: "scale", pendingPlan: null, begun: null };
  parts.store.changePlan(
    accountId,
    () => decision,
    () => null,
  );
  parts.clock.advance(5_001);
  expect(plans()).toEqual(["scale", "scale"]);
});

test("no plaintext key is on disk", () => {
  const parts = openParts({ clock: handClock() });
  const { accountId, apiKey } = signUp(parts);
  const { apiKey: next } = parts.accounts.rotateKey(accountId, { overlapSeconds: 60 });
  for (const key of [apiKey, next]) expect(parts.store.findKey(key)).toBeNull();
});

test("a plan change and a rotation are seen by the next call", () => {
  const parts = openParts({ clock: handClock() });
  const { accountId, apiKey } = signUp(parts);
  expect(parts.keyRing.find(apiKey)?.plan.plan).toBe("free");
  parts.accounts.changePlan(accountId, { plan: "scale" });
  expect(parts.keyRing.find(apiKey)?.plan.plan).toBe("scale");
  const { apiKey: next } = parts.accounts.rotateKey(accountId, { overlapSeconds: 0 });
  expect(parts.keyRing.find(apiKey)).toBeNull();
  expect(parts.keyRing.find(next)?.accountId).toBe(accountId);
});

test("the old key works to the end of the overlap and not a moment longer, also from the cache", () => {
  const clock = handClock("2026-11-20T12:00:00Z");
  const parts = openParts({ clock });
  const { accountId, apiKey } = signUp(parts);
  const rotated = parts.accounts.rotateKey(accountId, { overlapSeconds: 3 });
  expect(rotated.oldKeyExpiresAt).toBe("2026-11-20T12:00:03Z");
  clock.advance(2_999);
  expect(parts.keyRing.find(apiKey)?.accountId).toBe(accountId);
  clock.advance(1);
  expect(parts.keyRing.find(apiKey)).toBeNull();
  expect(parts.keyRing.find(rotated.apiKey)?.accountId).toBe(accountId);
});

test("a second rotation ends the first one's overlap no later than it was", () => {
  const clock = handClock();
  const parts = openParts({ clock });
  const { accountId, apiKey } = signUp(parts);
  const first = parts.accounts.rotateKey(accountId, { overlapSeconds: 10 });
  const second = parts.accounts.rotateKey(accountId, { overlapSeconds: 3_600 });
  clock.advance(10_000);
  expect(parts.keyRing.find(apiKey)).toBeNull();
  expect(parts.keyRing.find(first.apiKey)?.accountId).toBe(accountId);
  expect(parts.keyRing.find(second.apiKey)?.accountId).toBe(accountId);
});
