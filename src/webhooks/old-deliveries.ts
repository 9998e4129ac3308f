import { DAY_MS } from "../platform/days.ts";
import { removeInSlices } from "../platform/slices.ts";
import { DELIVERIES_AT_ONCE_MAX } from "../store/delivery-steps.ts";
import type { WebhookPort } from "../store/webhook-port.ts";

/** Deliveries are listed and kept this long after their event. */
export const KEPT_MS = 30 * DAY_MS;

/** Removes all deliveries that are too old. */
export function removeOldDeliveries(
  store: Pick<WebhookPort, "removeDeliveries">,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  return removeInSlices(
    async (limit) => store.removeDeliveries(now - KEPT_MS, limit),
    DELIVERIES_AT_ONCE_MAX,
    signal,
  );
}
