import type { AttemptEnd, WebhookRecord } from "./webhook-port.ts";

/** Returns what an attempt changes of its webhook: nothing where it was sent to an address that the webhook no longer has. */
export function changeByAttempt(
  { sentTo, webhook }: AttemptEnd,
  { url }: Pick<WebhookRecord, "url">,
): AttemptEnd["webhook"] {
  return sentTo === undefined || sentTo === url ? webhook : {};
}
