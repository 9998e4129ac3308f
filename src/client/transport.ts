import { type RefusedError, UnreachableError } from "./failure.ts";
import { pause } from "./pause.ts";
import { FIRST_PAUSE_MS, isReplyLost, pauseBefore } from "./repetition.ts";
import { refusalOf, unreadable } from "./reply-refusal.ts";

export type ClientSettings = {
  /** Such as `http://127.0.0.1:3000`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** How often a call is sent again at most (4), besides waiting for its own earlier attempt that still runs. */
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
  read: (reply: Response, idempotencyKey: string | null) => Promise<Read>,
) => Promise<Read>;

/** How long a call waits at most, pauses added up, for its own earlier attempt to end. */
const OWN_ATTEMPT_WAIT_MAX_MS = 900_000;

/**
 * Sends calls. 429 and 503 are sent again after their Retry-After; a broken connection, and what a proxy answers in the
 * place of the server, only where sending twice is harmless: a GET, PUT or DELETE, or a POST with an idempotency key.
 * An own attempt that runs on after its reply was lost is waited for, up to 15 minutes; a 409 that is not of an own
 * attempt is thrown at once. The 404 of a DELETE behind a lost reply is a success. Throws RefusedError, UnreachableError,
 * or the signal's reason.
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
    const key =
      (method === "POST" && idempotencyKey === undefined ? crypto.randomUUID() : idempotencyKey) ?? null;
    const init: RequestInit = {
      method,
      headers: {
        Accept: accept ?? "application/json",
        ...(apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(key === null ? {} : { "Idempotency-Key": key }),
        ...raw?.headers,
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(raw === undefined ? {} : { body: raw.bytes }),
      ...(signal === undefined ? {} : { signal }),
    };
    const isRepeatable = method !== "POST" || key !== null;
    let mayRunOn = false;
    let ownWaitMs = 0;
    for (let attempt = 0; ; ) {
      const { value, failure } = await attemptOnce(
        base,
        key,
        () => send(base + path, init),
        init.signal,
        read,
      );
      if (failure === null) return value;
      failure.isReplyLost = mayRunOn || isReplyLost(failure);
      // What is gone was deleted by the attempt whose reply was lost.
      if (method === "DELETE" && mayRunOn && "code" in failure && failure.code === "not_found") {
        return read(new Response(null, { status: 204 }), key);
      }
      const isOwn = mayRunOn && "code" in failure && failure.code === "idempotency_in_progress";
      const pauseMs = pauseBefore(failure, attempt, isRepeatable, isOwn);
      if (pauseMs === null || pauseMs > retryWaitMaxMs) throw failure;
      if (isOwn) ownWaitMs += Math.max(pauseMs, FIRST_PAUSE_MS);
      else attempt += 1;
      if (attempt > retriesMax || ownWaitMs > OWN_ATTEMPT_WAIT_MAX_MS) throw failure;
      mayRunOn = failure.isReplyLost;
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
  idempotencyKey: string | null,
  send: () => Promise<Response>,
  signal: AbortSignal | null | undefined,
  read: (reply: Response, idempotencyKey: string | null) => Promise<Read>,
): Promise<Attempt<Read>> {
  try {
    const reply = await send();
    if (!reply.ok) return { value: null, failure: await refusalOf(reply, idempotencyKey) };
    try {
      return { value: await read(reply, idempotencyKey), failure: null };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return { value: null, failure: unreadable(reply, idempotencyKey) };
    }
  } catch (cause) {
    signal?.throwIfAborted();
    return {
      value: null,
      failure: new UnreachableError(`${base} does not answer, or broke off its reply.`, {
        cause,
        idempotencyKey,
      }),
    };
  }
}
