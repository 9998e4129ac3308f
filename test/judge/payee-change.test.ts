import { expect, test } from "bun:test";
import type { CheckView } from "../../src/contract/specification/directory/check.ts";
import { createCheck, type OwnEvidence } from "../../src/judge/check.ts";
import { listing } from "../support/directory.ts";
import { syncedPair } from "../support/synced-directory.ts";

const OWN: OwnEvidence = {
  ...{ uptime_30d: 1, probes_30d: 4000, median_latency_ms: 100 },
  ...{ observed: null, observed_usd: null, payee_first_seen: null, payee_changed_at: null },
};

test("the later change of a payee counts: an older one that this server saw does not hide it", async () => {
  using pair = await syncedPair(3);
  const [old, recent] = ["2025-06-01T00:00:00.000Z", "2026-02-27T00:00:00.000Z"];
  const changed = listing(1, ({ evidence }) => {
    evidence.pay_to_changed_at = recent;
  });
  pair.upstream.put(changed);
  const outcome = await pair.sync();
  if (outcome.kind !== "changed") throw new Error(outcome.kind);
  const { snapshot } = outcome.published;
  const resource = new URL(changed.resources[0]?.url ?? "");
  const changedAt = (payee_changed_at: string | null) => {
    const check = createCheck({
      signingKey: { sign: () => "" },
      ownEvidence: () => ({ ...OWN, payee_changed_at }),
      monotonic: () => 0,
    });
    const view = { snapshot, stale: false, syncedAt: pair.clock.now() };
    const { pay_to, reasons } = JSON.parse(check.judge(view as never, "", resource).text) as CheckView;
    return [pay_to.changed_at, reasons.map(({ code }) => code)];
  };
  const later = "2026-02-28T00:00:00.000Z";
  expect(changedAt(null)).toEqual([recent, ["payee_changed"]]);
  expect(changedAt(old)).toEqual([recent, ["payee_changed"]]);
  expect(changedAt(later)).toEqual([later, ["payee_changed"]]);
});
