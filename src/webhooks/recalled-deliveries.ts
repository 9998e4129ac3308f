import { setImmediate as nextTurn } from "node:timers/promises";
import { DELIVERIES_AT_ONCE_MAX } from "../store/delivery-steps.ts";
import type { WebhookPort } from "../store/webhook-port.ts";
import { RETRY_WAIT_MAX_MS } from "./delivery-schedule.ts";

/**
 * Makes the deliveries due that wait for longer than any retry does: a clock that was ahead has set their time, and days
 * could pass until it comes.
 */
export async function recallStranded(
  store: Pick<WebhookPort, "recallDeliveries">,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  const limit = DELIVERIES_AT_ONCE_MAX;
  while (!signal.aborted && (await store.recallDeliveries(now, now + RETRY_WAIT_MAX_MS, limit)) === limit) {
    await nextTurn();
  }
}
