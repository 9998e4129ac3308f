/** A refusal of the server, from its error envelope. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;

  constructor(message: string, facts: { status: number; code: string; requestId: string | null }) {
    super(message);
    this.status = facts.status;
    this.code = facts.code;
    this.requestId = facts.requestId;
  }
}

/** There was no reply: the server or the network is down. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

/** Returns what is read of a reply. Throws Unreachable where it breaks off, which browsers say by a TypeError. */
export async function unbroken<Read>(reading: Promise<Read>): Promise<Read> {
  try {
    return await reading;
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new Unreachable("The server's reply broke off.", { cause });
  }
}

/** What a proxy says of the call itself: sent again it is refused again. */
const TOO_LARGE = 413;

/**
 * Whether a retry may succeed: the server or something before it fails, this key calls too often, or the same call still
 * runs.
 */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof Refusal)) return error instanceof Unreachable;
  const { status, code } = error;
  if (status >= 500 || status === 408) return true;
  if (code === "unreadable_reply") return status !== TOO_LARGE;
  return code === "rate_limited" || code === "idempotency_in_progress";
}

/** Reads the envelope of a refusal; a reply without one is described by its status. */
export async function refusalOf(reply: Response): Promise<Refusal> {
  const text = await reply.text().catch(() => "");
  const { code, message } = envelopeOf(text) ?? {
    code: "unreadable_reply",
    message: `The server answered ${reply.status}.`,
  };
  return new Refusal(message, {
    status: reply.status,
    code,
    requestId: reply.headers.get("x-request-id"),
  });
}

export function envelopeOf(text: string): { readonly code: string; readonly message: string } | null {
  try {
    const { code, message } = JSON.parse(text).error;
    return typeof code === "string" && typeof message === "string" ? { code, message } : null;
  } catch {
    return null;
  }
}
