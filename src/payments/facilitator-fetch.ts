import type { FailureReason } from "../net/failure.ts";
import type { HttpClient } from "../net/http-client.ts";
import type { FacilitatorFetch } from "./facilitator.ts";

/** Failures before the request is written: those of the address, its look-up and the connection. */
const BEFORE_SENDING: readonly FailureReason[] = [
  "bad_request",
  "bad_url",
  "bad_scheme",
  "user_info",
  "plain_http",
  "bad_port",
  "literal_address",
  "local_name",
  "dns_not_found",
  "dns_failed",
  "dns_timeout",
  "private_address",
  "connect_failed",
  "connect_timeout",
  "tls_failed",
  "certificate_invalid",
];

/**
 * Returns what asks a facilitator over HTTP, through the one way out. The operator names the facilitator, so the
 * client may allow any address; it must not follow redirects, and its own limits of time must not be shorter than the
 * deadlines that are asked for. The deadline holds from the look-up to the last byte.
 */
export function createFacilitatorFetch(client: Pick<HttpClient, "send">): FacilitatorFetch {
  return async (url, { body, deadlineMs, bytesMax }) => {
    const post = { method: "POST", headers: { "content-type": "application/json" } };
    const reply = await client.send(url, {
      ...(body === null ? {} : { ...post, body }),
      bodyBytesMax: bytesMax,
      signal: AbortSignal.timeout(deadlineMs),
    });
    // The message may name addresses of the operator's network, and callers are shown the reason.
    if (!reply.ok) {
      const reason = `the facilitator cannot be asked (${reply.reason})`;
      return { ok: false, reason, isSent: !BEFORE_SENDING.includes(reply.reason) };
    }
    return { ok: true, status: reply.status, text: Buffer.from(reply.body).toString("utf8") };
  };
}
