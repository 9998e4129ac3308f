import { expect, test } from "bun:test";
import { plansOf } from "./statement-plans.ts";
import { NOON } from "./store-conformance.ts";

test("kept replies are counted, and their files named, without a look at their bodies", () => {
  expect(plansOf(({ replies }) => replies.bodyFiles())).toEqual([
    "SEARCH idempotent_replies USING COVERING INDEX idempotent_replies_with_file (body_file>?)",
  ]);
  expect(plansOf(({ replies }) => replies.byAccount())).toEqual([
    "SCAN idempotent_replies USING COVERING INDEX idempotent_replies_by_expiry",
    "USE TEMP B-TREE FOR GROUP BY",
  ]);
});

test("keys that expire soon are found without those that had their event, were rotated or revoked", () => {
  expect(plansOf(({ accounts }) => accounts.isNoneExpiring(NOON, NOON + 1))).toEqual([
    "SEARCH api_keys USING INDEX api_keys_without_event (expires_at>?)",
  ]);
  expect(plansOf(({ accounts }) => accounts.expiringKeys(NOON, NOON + 1, 9))).toEqual([
    "SEARCH api_keys USING INDEX api_keys_without_event (expires_at>? AND expires_at<?)",
  ]);
});

test("erased accounts whose jobs are left are found without a look at the others", () => {
  expect(plansOf(({ erasures }) => erasures.underWay())).toEqual([
    "SEARCH accounts USING INDEX accounts_by_normalized (normalized>? AND normalized<?)",
  ]);
});
