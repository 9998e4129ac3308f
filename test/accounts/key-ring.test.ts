import { expect, test } from "bun:test";
import { makeApiKey, systemRandomBytes } from "../../src/accounts/api-key.ts";
import { createKeyRing } from "../../src/accounts/key-ring.ts";
import { ApiError } from "../../src/contract/errors.ts";
import { handClock, openAccounting, signUp } from "../billing/accounting.ts";

/** Counts how often the database is asked for a key. */
function countingAccounting() {
  const accounting = openAccounting({ clock: handClock() });
  const asked = { keys: 0 };
  const findKey = (hash: string) => {
    asked.keys += 1;
    return accounting.store.findKey(hash);
  };
  const keyRing = createKeyRing({ ...accounting, store: { ...accounting.store, findKey } });
  return { accounting, asked, keyRing };
}

test("a key is looked up once, an unknown one too, and a mistyped one never", () => {
  const { accounting, asked, keyRing } = countingAccounting();
  const { accountId, apiKey } = signUp(accounting, "growth");
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
  accounting.clock.advance(5_001);
  expect(keyRing.find(apiKey)?.accountId).toBe(accountId);
  expect(asked.keys).toBe(3);
});

test("a use is noted once for each hour, from the first moment of it on", () => {
  const accounting = openAccounting({ clock: handClock("2026-11-20T12:59:59Z") });
  const { accountId, apiKey } = signUp(accounting);
  const lastUses = () => accounting.store.listKeys(accountId, 0).map(({ lastUsedAt }) => lastUsedAt);
  const useAndFlush = () => {
    accounting.keyRing.find(apiKey);
    accounting.keyRing.flushUses();
    return lastUses();
  };
  expect(useAndFlush()).toEqual([Date.parse("2026-11-20T12:00:00Z")]);
  accounting.clock.advance(999);
  expect(useAndFlush()).toEqual([Date.parse("2026-11-20T12:00:00Z")]);
  accounting.clock.advance(1);
  expect(useAndFlush()).toEqual([Date.parse("2026-11-20T13:00:00Z")]);
});

test("a plan that was changed in the database alone is seen by every key within five seconds", () => {
  const accounting = openAccounting({ clock: handClock() });
  const { accountId, apiKey } = signUp(accounting);
  const { apiKey: next } = accounting.accounts.rotateKey(accountId, { overlapSeconds: 3_600 });
  const plans = () => [apiKey, next].map((key) => accounting.keyRing.find(key)?.plan.plan);
  expect(plans()).toEqual(["free", "free"]);
  const decision = { plan: "scale", pendingPlan: null, started: null };
  accounting.store.changePlan(
    accountId,
    () => decision,
    () => null,
  );
  accounting.clock.advance(5_001);
  expect(plans()).toEqual(["scale", "scale"]);
});

test("no plaintext key is on disk", () => {
  const accounting = openAccounting({ clock: handClock() });
  const { accountId, apiKey } = signUp(accounting);
  const { apiKey: next } = accounting.accounts.rotateKey(accountId, { overlapSeconds: 60 });
  for (const key of [apiKey, next]) expect(accounting.store.findKey(key)).toBeNull();
});

test("a plan change and a rotation are seen by the next call", () => {
  const accounting = openAccounting({ clock: handClock() });
  const { accountId, apiKey } = signUp(accounting);
  expect(accounting.keyRing.find(apiKey)?.plan.plan).toBe("free");
  accounting.accounts.changePlan(accountId, { plan: "scale" });
  expect(accounting.keyRing.find(apiKey)?.plan.plan).toBe("scale");
  const { apiKey: next } = accounting.accounts.rotateKey(accountId, { overlapSeconds: 0 });
  expect(accounting.keyRing.find(apiKey)).toBeNull();
  expect(accounting.keyRing.find(next)?.accountId).toBe(accountId);
});

test("the old key works to the end of the overlap and not a moment longer, also from the cache", () => {
  const clock = handClock("2026-11-20T12:00:00Z");
  const accounting = openAccounting({ clock });
  const { accountId, apiKey } = signUp(accounting);
  const rotated = accounting.accounts.rotateKey(accountId, { overlapSeconds: 3 });
  expect(rotated.oldKeyExpiresAt).toBe("2026-11-20T12:00:03Z");
  clock.advance(2_999);
  expect(accounting.keyRing.find(apiKey)?.accountId).toBe(accountId);
  clock.advance(1);
  expect(accounting.keyRing.find(apiKey)).toBeNull();
  expect(accounting.keyRing.find(rotated.apiKey)?.accountId).toBe(accountId);
});

test("of rotations at once of the calling key one gives a new key, and the others are refused as calls without a key", () => {
  const accounting = openAccounting({ clock: handClock() });
  const { accountId, apiKey } = signUp(accounting);
  const keyId = accounting.keyRing.find(apiKey)?.keyId ?? "";
  const rotation = { overlapSeconds: 0, keyId, isOfCall: true };
  const { apiKey: next } = accounting.accounts.rotateKey(accountId, rotation);
  expect(() => accounting.accounts.rotateKey(accountId, rotation)).toThrow(new ApiError("bad_key"));
  expect(() => accounting.accounts.rotateKey(accountId, { overlapSeconds: 0, keyId })).toThrow("no such key");
  expect(accounting.keyRing.find(next)?.accountId).toBe(accountId);
});

test("a second rotation ends the first one's overlap no later than it was", () => {
  const clock = handClock();
  const accounting = openAccounting({ clock });
  const { accountId, apiKey } = signUp(accounting);
  const first = accounting.accounts.rotateKey(accountId, { overlapSeconds: 10 });
  const second = accounting.accounts.rotateKey(accountId, { overlapSeconds: 3_600 });
  clock.advance(10_000);
  expect(accounting.keyRing.find(apiKey)).toBeNull();
  expect(accounting.keyRing.find(first.apiKey)?.accountId).toBe(accountId);
  expect(accounting.keyRing.find(second.apiKey)?.accountId).toBe(accountId);
});

test("where the database answers later, calls at once read a key once, and none believes what was read before a change", async () => {
  const accounting = openAccounting({ clock: handClock() });
  const { accountId, apiKey } = signUp(accounting);
  const answers: (() => void)[] = [];
  const findKey = (hash: string) => {
    const found = accounting.store.findKey(hash);
    return new Promise<typeof found>((resolve) => answers.push(() => resolve(found)));
  };
  const keyRing = createKeyRing({ ...accounting, store: { ...accounting.store, findKey } });
  const early = [keyRing.find(apiKey), keyRing.find(apiKey)];
  expect(answers).toHaveLength(1);
  const [keyId = ""] = accounting.store.listKeys(accountId, 0).map((key) => key.keyId);
  accounting.store.revokeKey(accountId, keyId, accounting.clock.now(), () => {});
  keyRing.forget(accountId);
  const late = keyRing.find(apiKey);
  for (const answer of answers) answer();
  expect(await Promise.all(early)).toMatchObject([{ accountId }, { accountId }]);
  expect(await late).toBeNull();
  expect(keyRing.find(apiKey)).toBeNull();
});
