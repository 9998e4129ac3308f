import { RefusedError, UNREADABLE } from "./failure.ts";

/** Reads the refusal of a reply; of one that is not this API's its code is `unreadable_reply`. */
export async function refusalOf(reply: Response, idempotencyKey: string | null): Promise<RefusedError> {
  const text = await reply.text().catch(() => "");
  const envelope = envelopeOf(text);
  return envelope === null ? unreadable(reply, idempotencyKey) : refusedWith(reply, idempotencyKey, envelope);
}

/** The failure of a reply that is not one of this API, such as the page of a proxy or a portal. */
export function unreadable(reply: Response, idempotencyKey: string | null): RefusedError {
  const kind = reply.ok ? "reply" : "error";
  const message = `The server answered ${reply.status} with no ${kind} of this API.`;
  return refusedWith(reply, idempotencyKey, { code: UNREADABLE, message });
}

function refusedWith(
  { status, headers }: Response,
  idempotencyKey: string | null,
  { code, message }: { readonly code: string; readonly message: string },
): RefusedError {
  const retryAfter = headers.get("retry-after")?.trim() ?? "";
  return new RefusedError(message, {
    status,
    code,
    requestId: headers.get("x-request-id"),
    idempotencyKey,
    retryAfterSeconds: /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : null,
  });
}

function envelopeOf(text: string): { code: string; message: string } | null {
  try {
    const { code, message } = JSON.parse(text).error;
    return typeof code === "string" && typeof message === "string" ? { code, message } : null;
  } catch {
    return null;
  }
}
