import type { FacilitatorFetch } from "./facilitator.ts";

/**
 * Asks a facilitator over HTTP. The operator names it, so any address is allowed; redirects are not followed, and
 * the deadline holds for the whole answer.
 */
export const fetchFacilitator: FacilitatorFetch = async (url, { body, deadlineMs, bytesMax }) => {
  const signal = AbortSignal.timeout(deadlineMs);
  const post = { method: "POST", headers: { "Content-Type": "application/json" }, body };
  const response = await fetch(url, { ...(body === null ? {} : post), redirect: "manual", signal });
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Error(`the facilitator answers more than ${bytesMax} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return { status: response.status, text: text + decoder.decode() };
};
