import type { HttpClient } from "../net/http-client.ts";
import type { FacilitatorFetch } from "./facilitator.ts";

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
    if (!reply.ok) throw new Error(`the facilitator cannot be asked (${reply.reason})`);
    return { status: reply.status, text: Buffer.from(reply.body).toString("utf8") };
  };
}
