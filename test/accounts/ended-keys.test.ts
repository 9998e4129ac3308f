import { expect, test } from "bun:test";
import { hashApiKey, systemRandomBytes } from "../../src/accounts/api-key.ts";
import { removeEndedKeys } from "../../src/accounts/ended-keys.ts";
import { createKeys } from "../../src/accounts/key-list.ts";
import { DAY_MS } from "../../src/platform/days.ts";
import { handClock, openAccounting, setConfirmed, signUp } from "../billing/accounting.ts";

const MINUTE_MS = 60_000;

function rotated(rotations: number) {
  const clock = handClock("2026-11-20T12:00:00Z");
  const accounting = openAccounting({ clock });
  const { accountId, apiKey } = signUp(accounting);
  const secrets = [apiKey];
  for (let count = 0; count < rotations; count += 1) {
    clock.advance(1_000);
    secrets.push(accounting.accounts.rotateKey(accountId, { overlapSeconds: 0 }).apiKey);
  }
  const keys = createKeys({ ...accounting, randomBytes: systemRandomBytes });
  const listed = () => keys.list(accountId).data;
  const remove = () =>
    removeEndedKeys(
      { store: accounting.store, clock: accounting.billingClock },
      new AbortController().signal,
    );
  return { ...accounting, accountId, secrets, listed, remove };
}

test("a caller who ends keys in a loop lists the last five hundred of them, beside the one that works", () => {
  const { listed } = rotated(650);
  const all = listed();
  expect(all).toHaveLength(501);
  expect(all.at(-1)?.revoked_at).toBeNull();
  const ends = all.slice(0, -1).map(({ revoked_at }) => revoked_at ?? "");
  expect([ends[0], ends.at(-1)]).toEqual(["2026-11-20T12:02:31Z", "2026-11-20T12:10:50Z"]);
});

test("a key that ended is there for a lost reply and the list, and is removed after 30 days", async () => {
  const accounting = rotated(650);
  const { secrets, keyRing, clock, store, remove, listed } = accounting;
  await remove();
  clock.advance(10 * MINUTE_MS);
  await remove();
  const [ended = "", working = ""] = secrets.slice(-2);
  expect(keyRing.findExpired(ended, 15 * MINUTE_MS)).not.toBeNull();
  setConfirmed(accounting, clock.now() + 29 * DAY_MS);
  await remove();
  expect(listed()).toHaveLength(501);
  setConfirmed(accounting, clock.now() + DAY_MS);
  await remove();
  expect(listed()).toHaveLength(1);
  expect(secrets.filter((secret) => store.findKey(hashApiKey(secret)) !== null)).toEqual([working]);
});

test("a clock that is far ahead removes no key before an operator has confirmed it", async () => {
  const { clock, secrets, store, remove } = rotated(1);
  clock.advance(400 * DAY_MS);
  await remove();
  expect(store.findKey(hashApiKey(secrets[0] ?? ""))).not.toBeNull();
});
