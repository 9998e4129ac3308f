import type { AttemptEnd, WebhookRecord } from "./webhook-port.ts";

/**
 * Returns what an attempt changes of its webhook: nothing where it was sent to an address that the webhook no longer has,
 * or failed while another attempt, or the owner, changed since when the webhook fails.
 */
export function changeByAttempt(
  { claimed, webhook }: AttemptEnd,
  { url, failingSince }: Pick<WebhookRecord, "url" | "failingSince">,
): AttemptEnd["webhook"] {
  if (claimed === undefined) return webhook;
  if (claimed.url !== url) return {};
  const isOutdated = claimed.failingSince !== failingSince;
  const hasFailed = webhook.failingSince !== null && webhook.disabledReason !== "gone";
  return isOutdated && hasFailed ? {} : webhook;
}
