import { setImmediate as nextTurn } from "node:timers/promises";
import { DAY_MS } from "../platform/days.ts";
import type { WebhookPort } from "../store/webhook-port.ts";

/** Deliveries are listed and kept this long after their event. */
export const KEPT_MS = 30 * DAY_MS;
const REMOVED_AT_ONCE_MAX = 500;

/** Removes all deliveries that are too old, a slice at a time: calls go on between two. */
export async function removeOldDeliveries(
  store: Pick<WebhookPort, "removeDeliveries">,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  while ((await store.removeDeliveries(now - KEPT_MS, REMOVED_AT_ONCE_MAX)) === REMOVED_AT_ONCE_MAX) {
    await nextTurn();
    if (signal.aborted) return;
  }
}
