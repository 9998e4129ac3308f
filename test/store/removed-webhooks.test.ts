import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DELIVERIES_AT_ONCE_MAX } from "../../src/store/delivery-steps.ts";
import { openStore } from "../../src/store/sqlite/open.ts";
import { clock, signUp } from "./store-conformance.ts";
import { event, webhookRecord } from "./webhook-conformance.ts";

const LEFT = 3;

test("a webhook is removed with one step of its deliveries; the next process removes what was left", async () => {
  const folder = mkdtempSync(join(tmpdir(), "assay-removed-webhooks-"));
  try {
    const dataDir = join(folder, "data");
    const former = openStore({ dataDir, clock });
    await signUp(former, "acc_a");
    const webhook = webhookRecord("wh_1");
    former.createWebhook(webhook, 20, null);
    for (let n = 0; n < DELIVERIES_AT_ONCE_MAX + LEFT; n += 1)
      former.addDelivery(webhook, event("job.failed"), () => null);
    const page = { webhookId: "wh_1", afterDeliveryId: null, since: 0, limit: 2_000 };
    expect(former.removeWebhook("acc_a", "wh_1")).toBe(true);
    expect(former.deliveryPage(page)).toHaveLength(LEFT);
    former.close();
    const next = openStore({ dataDir, clock });
    expect(next.claimDelivery(Number.MAX_SAFE_INTEGER, [])).toBeNull();
    expect([next.removeDeliveries(0, 2), next.removeDeliveries(0, 2)]).toEqual([2, 1]);
    expect(next.deliveryPage(page)).toEqual([]);
    next.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
