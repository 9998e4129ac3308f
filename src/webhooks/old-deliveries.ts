import { DAY_MS } from "../platform/days.ts";
import { removeInSlices } from "../platform/slices.ts";
import type { WebhookPort } from "../store/webhook-port.ts";

/** Deliveries are listed and kept this long after their event. */
export const KEPT_MS = 30 * DAY_MS;
const REMOVED_AT_ONCE_MAX = 500;

/** Removes all deliveries that are too old. */
export function removeOldDeliveries(
  store: Pick<WebhookPort, "removeDeliveries">,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  return removeInSlices(
    async (limit) => store.removeDeliveries(now - KEPT_MS, limit),
    REMOVED_AT_ONCE_MAX,
    signal,
  );
}
