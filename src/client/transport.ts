import { RefusedError, UnreachableError } from "./failure.ts";
import { pause } from "./pause.ts";

export type ClientSettings = {
  /** Such as `http://127.0.0.1:3000`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** How often a call is sent again at most (4). */
  readonly retriesMax?: number;
  /** A longer Retry-After is thrown instead of waited for (60,000). */
  readonly retryWaitMaxMs?: number;
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  readonly pause?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
};

export type CallOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Left out: a new one for each call. Null: none, and the call is not sent again after a broken connection. */
  readonly idempotencyKey?: string | null | undefined;
};

/** A body that is sent unchanged. */
export type BytesBody = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly headers: { readonly [name: string]: string };
};

/** Sends a call and reads its reply; a reply that breaks off while it is read counts as a broken connection. */
export type Send = <Read>(
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  options: CallOptions & {
    /** Sent as JSON. */
    readonly body?: unknown;
    readonly raw?: BytesBody;
    readonly accept?: string;
    readonly headers?: { readonly [name: string]: string };
  },
  read: (reply: Response) => Promise<Read>,
) => Promise<Read>;

/** The code of a reply that is not one of this API. */
export const UNREADABLE = "unreadable_reply";

/** Waits before sending again where the server does not say how long: 250 ms, then twice as long each time. */
const FIRST_PAUSE_MS = 250;

/**
 * Sends calls. 429 and 503 are sent again after their Retry-After; a broken connection, and what a proxy answers in the
 * place of the server, only where sending twice is harmless: a GET, PUT or DELETE, or a POST with an idempotency key.
 * Throws RefusedError, UnreachableError, or the signal's reason.
 */
export function createTransport(settings: ClientSettings): Send {
  const { apiKey, retriesMax = 4, retryWaitMaxMs = 60_000 } = settings;
  const send = settings.fetch ?? ((url: string, init: RequestInit) => fetch(url, init));
  const wait = settings.pause ?? pause;
  const base = addressOf(settings.baseUrl);
  if (apiKey !== undefined && !isSendable(apiKey)) {
    throw new TypeError("apiKey holds a character that no key has, such as a line end.");
  }

  return async (method, path, { body, raw, accept, headers, signal, idempotencyKey }, read) => {
    const key = method === "POST" && idempotencyKey === undefined ? crypto.randomUUID() : idempotencyKey;
    const init: RequestInit = {
      method,
      headers: {
        Accept: accept ?? "application/json",
        ...(apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(typeof key === "string" ? { "Idempotency-Key": key } : {}),
        ...raw?.headers,
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(raw === undefined ? {} : { body: raw.bytes }),
      ...(signal === undefined ? {} : { signal }),
    };
    const isRepeatable = method !== "POST" || typeof key === "string";
    for (let attempt = 0; ; attempt++) {
      const { value, failure } = await attemptOnce(base, () => send(base + path, init), init.signal, read);
      if (failure === null) return value;
      const pauseMs = pauseBefore(failure, attempt, isRepeatable);
      if (pauseMs === null || attempt >= retriesMax || pauseMs > retryWaitMaxMs) throw failure;
      await wait(pauseMs, signal);
    }
  };
}

/** Returns the address without slashes at its end. Throws a TypeError for what is none; pages may give a path of theirs. */
function addressOf(baseUrl: string): string {
  const page = (globalThis as { readonly location?: { readonly href: string } }).location;
  // Node.js 20 has no URL.parse.
  const isAddress =
    URL.canParse(baseUrl, page?.href) && /^https?:$/.test(new URL(baseUrl, page?.href).protocol);
  if (!isAddress)
    throw new TypeError(`baseUrl must be an http or https address, not ${JSON.stringify(baseUrl)}.`);
  return baseUrl.replace(/\/+$/, "");
}

/** Whether a header can hold a key, with blanks around it: anything else would look as if the server did not answer. */
export function isSendable(apiKey: string): boolean {
  return /^[\x21-\x7e]*$/.test(apiKey.trim());
}

type Attempt<Read> =
  | { readonly value: Read; readonly failure: null }
  | { readonly value: null; readonly failure: RefusedError | UnreachableError };

async function attemptOnce<Read>(
  base: string,
  send: () => Promise<Response>,
  signal: AbortSignal | null | undefined,
  read: (reply: Response) => Promise<Read>,
): Promise<Attempt<Read>> {
  try {
    const reply = await send();
    if (!reply.ok) return { value: null, failure: await refusalOf(reply) };
    try {
      return { value: await read(reply), failure: null };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return { value: null, failure: unreadable(reply) };
    }
  } catch (cause) {
    signal?.throwIfAborted();
    return {
      value: null,
      failure: new UnreachableError(`${base} does not answer, or broke off its reply.`, { cause }),
    };
  }
}

/** How long to wait before the next attempt, or null where there is no use in one. */
function pauseBefore(
  failure: RefusedError | UnreachableError,
  attempt: number,
  isRepeatable: boolean,
): number | null {
  const backoffMs = FIRST_PAUSE_MS * 2 ** attempt;
  if (failure instanceof UnreachableError) return isRepeatable ? backoffMs : null;
  const { status, code, retryAfterSeconds } = failure;
  const isOfProxy = code === UNREADABLE && (status === 502 || status === 504 || status < 300);
  if (isOfProxy) return isRepeatable ? backoffMs : null;
  // Our first attempt may still be running after its connection broke.
  const isOwnShadow = code === "idempotency_in_progress" && attempt > 0;
  if (status !== 429 && status !== 503 && !isOwnShadow) return null;
  return retryAfterSeconds === null ? backoffMs : retryAfterSeconds * 1000;
}

async function refusalOf(reply: Response): Promise<RefusedError> {
  const text = await reply.text().catch(() => "");
  const envelope = envelopeOf(text);
  return envelope === null ? unreadable(reply) : refusedWith(reply, envelope);
}

/** The failure of a reply that is not one of this API, such as the page of a proxy or a portal. */
function unreadable(reply: Response): RefusedError {
  const kind = reply.ok ? "reply" : "error";
  const message = `The server answered ${reply.status} with no ${kind} of this API.`;
  return refusedWith(reply, { code: UNREADABLE, message });
}

function refusedWith(
  { status, headers }: Response,
  { code, message }: { readonly code: string; readonly message: string },
): RefusedError {
  const retryAfter = headers.get("retry-after")?.trim() ?? "";
  return new RefusedError(message, {
    status,
    code,
    requestId: headers.get("x-request-id"),
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
