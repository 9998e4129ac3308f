import { Database } from "bun:sqlite";
import { expect, spyOn, test } from "bun:test";
import { systemRandomBytes } from "../../src/accounts/api-key.ts";
import { createKeys } from "../../src/accounts/key-list.ts";
import { createKeyUses } from "../../src/accounts/key-uses.ts";
import { handClock, openAccounting, signUp } from "../billing/accounting.ts";
import { until } from "../support/caller.ts";

const HOUR = Date.parse("2026-11-20T12:00:00Z");

/** Uses of keys over a store that records how many are written, and in which turn of the event loop. */
function openUses() {
  const slices: { readonly uses: number; readonly turn: number }[] = [];
  let turn = 0;
  const uses = createKeyUses({
    isOpen: () => true,
    markKeysUsed: (written) => {
      slices.push({ uses: written.length, turn });
      setImmediate(() => {
        turn += 1;
      });
    },
  });
  for (let key = 0; key < 250; key += 1) uses.note(`hash ${key}`, HOUR);
  return { uses, slices };
}

test("uses of many keys are written a hundred in each turn of the event loop", async () => {
  const { uses, slices } = openUses();
  await until("last slice", () => uses.noted("hash 249") === undefined);
  expect(slices).toEqual([
    { uses: 100, turn: 0 },
    { uses: 100, turn: 1 },
    { uses: 50, turn: 2 },
  ]);
});

test("at the end all uses are written before the store is closed", async () => {
  const { uses, slices } = openUses();
  await uses.flush();
  expect(slices).toEqual([{ uses: 250, turn: 0 }]);
});

test("keys are listed with their last use before it is written, and no list waits for that", () => {
  const accounting = openAccounting({ clock: handClock("2026-11-20T12:34:56Z") });
  const { accountId, apiKey } = signUp(accounting);
  using mark = spyOn(accounting.store, "markKeysUsed");
  const keys = createKeys({ ...accounting, randomBytes: systemRandomBytes });
  const lastUses = () => keys.list(accountId).data.map((key) => key.last_used_at);
  expect(lastUses()).toEqual([null]);
  accounting.keyRing.find(apiKey);
  expect([lastUses(), mark.mock.calls]).toEqual([["2026-11-20T12:00:00Z"], []]);
  accounting.keyRing.flushUses();
  expect([lastUses(), mark.mock.calls.length]).toEqual([["2026-11-20T12:00:00Z"], 1]);
});

test("the statement that marks a use is compiled once", () => {
  const { store } = openAccounting({ clock: handClock() });
  store.markKeysUsed([{ keyHash: "a", lastUsedAt: HOUR }]);
  using prepare = spyOn(Database.prototype, "prepare");
  store.markKeysUsed(["b", "c", "d"].map((keyHash) => ({ keyHash, lastUsedAt: HOUR })));
  expect(prepare.mock.calls).toEqual([]);
});
