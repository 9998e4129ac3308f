import { isIP } from "node:net";
import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Clock } from "../clock.ts";
import { createPrivateRange } from "./address-range.ts";

/** The upstream cannot be reached, refuses, or passes a limit. The message is for the operator. */
export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
  readonly retryAfterMs: number | null;

  constructor(message: string, options?: { retryAfterMs?: number | null; cause?: unknown }) {
    super(message, { cause: options?.cause });
    this.retryAfterMs = options?.retryAfterMs ?? null;
  }
}

export type UpstreamLimits = {
  /** Until the head of the reply has come. */
  readonly connectTimeoutMs: number;
  /** Between two parts of the body. */
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
  readonly rawBytesMax: number;
  readonly inflatedBytesMax: number;
};

export const UPSTREAM_LIMITS: UpstreamLimits = {
  connectTimeoutMs: 10_000,
  idleTimeoutMs: 15_000,
  totalTimeoutMs: 120_000,
  rawBytesMax: 268_435_456,
  inflatedBytesMax: 268_435_456,
};

export type UpstreamSettings = {
  readonly baseUrl: string;
  readonly allowPrivate: boolean;
  readonly allowRedirects: boolean;
  readonly limits: UpstreamLimits;
};

export type UpstreamParts = {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** All addresses of a host. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
  readonly clock: Clock;
};

export type UpstreamReply = {
  readonly status: number;
  readonly headers: Headers;
  /** The body, inflated and within the limits; to be read once, or let go with `cancel`. */
  readonly body: AsyncGenerator<Uint8Array>;
  readonly cancel: () => void;
};

export type Upstream = {
  /** Throws UpstreamError for whatever keeps a reply from coming; any status but a redirect is a reply. */
  readonly get: (path: string, headers: Readonly<Record<string, string>>) => Promise<UpstreamReply>;
};

const REDIRECTS_MAX = 3;
const ADDRESSES_MAX = 4;
const RETRY_AFTER_MS_MAX = 3_600_000;

/**
 * Speaks HTTP to the upstream. Its host is resolved first and the connection is made to the address that was
 * checked, so that a second answer of the DNS cannot lead it elsewhere.
 */
export function createUpstream(settings: UpstreamSettings, parts: UpstreamParts): Upstream {
  const isPrivate = createPrivateRange();
  const addressesOf = async (url: URL): Promise<readonly string[]> => {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const addresses = isIP(host) === 0 ? await resolveHost(host, parts.resolve) : [host];
    const refused = settings.allowPrivate ? undefined : addresses.find(isPrivate);
    if (refused === undefined) return addresses.slice(0, ADDRESSES_MAX);
    throw new UpstreamError(
      `${host} has the private address ${refused}; DIRECTORY_ALLOW_PRIVATE permits that`,
    );
  };
  return {
    async get(path, headers) {
      const deadline = createDeadline(settings.limits, parts.clock);
      let url = new URL(`${settings.baseUrl}${path}`);
      for (let redirects = 0; ; redirects++) {
        const addresses = await deadline.connected(addressesOf(url));
        const response = await requestAny(url, addresses, headers, parts.fetch, deadline);
        const target = redirectTarget(url, response);
        if (target === null) return reply(response, settings.limits, deadline);
        response.body?.cancel().catch(() => {});
        if (!settings.allowRedirects) {
          throw new UpstreamError(`redirected to ${target.origin}; DIRECTORY_ALLOW_REDIRECTS permits that`);
        }
        if (redirects === REDIRECTS_MAX) throw new UpstreamError(`more than ${REDIRECTS_MAX} redirects`);
        if (url.protocol === "https:" && target.protocol !== "https:") {
          throw new UpstreamError(`redirected from https to ${target.origin}`);
        }
        url = target;
      }
    },
  };
}

async function resolveHost(host: string, resolve: UpstreamParts["resolve"]): Promise<readonly string[]> {
  const addresses = await resolve(host).catch((cause: unknown) => {
    throw new UpstreamError(`${host} cannot be resolved`, { cause });
  });
  if (addresses.length === 0) throw new UpstreamError(`${host} has no address`);
  return addresses;
}

async function requestAny(
  url: URL,
  addresses: readonly string[],
  headers: Readonly<Record<string, string>>,
  fetch: UpstreamParts["fetch"],
  deadline: Deadline,
): Promise<Response> {
  let failure: unknown = null;
  for (const address of addresses) {
    const pinned = new URL(url);
    pinned.hostname = isIP(address) === 6 ? `[${address}]` : address;
    const name = url.hostname.replace(/^\[|\]$/g, "");
    const init: BunFetchRequestInit = {
      headers: { ...headers, Host: url.host, "Accept-Encoding": "gzip" },
      redirect: "manual",
      decompress: false,
      signal: deadline.signal,
      ...(url.protocol === "https:" && isIP(name) === 0 ? { tls: { serverName: name } } : {}),
    };
    try {
      return await deadline.connected(fetch(pinned.href, init));
    } catch (error) {
      if (error instanceof UpstreamError) throw error;
      failure = error;
    }
  }
  throw new UpstreamError(`no connection to ${url.host}`, { cause: failure });
}

function redirectTarget(url: URL, response: Response): URL | null {
  if (![301, 302, 303, 307, 308].includes(response.status)) return null;
  const target = URL.parse(response.headers.get("location") ?? "", url.href);
  if (target === null || !/^https?:$/.test(target.protocol)) throw new UpstreamError("redirected to nowhere");
  return target;
}

function reply(response: Response, limits: UpstreamLimits, deadline: Deadline): UpstreamReply {
  const raw = limited(bodyParts(response, deadline), limits.rawBytesMax, "");
  const coding = (response.headers.get("content-encoding") ?? "identity").trim().toLowerCase();
  return {
    status: response.status,
    headers: response.headers,
    body: decoded(raw, coding, limits),
    cancel: () => {
      deadline.abort();
      response.body?.cancel().catch(() => {});
    },
  };
}

async function* decoded(
  raw: AsyncGenerator<Uint8Array>,
  coding: string,
  limits: UpstreamLimits,
): AsyncGenerator<Uint8Array> {
  if (coding === "identity" || coding === "") return yield* raw;
  if (coding !== "gzip" && coding !== "x-gzip") throw new UpstreamError(`unasked content coding ${coding}`);
  yield* limited(inflated(raw), limits.inflatedBytesMax, " inflated");
}

/** Inflates piece by piece: a piece of output is counted before the next one is made. */
async function* inflated(raw: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  pipeline(Readable.from(raw), gunzip, () => {});
  try {
    for await (const part of gunzip) yield part as Uint8Array;
  } catch (error) {
    throw error instanceof UpstreamError ? error : new UpstreamError("broken gzip", { cause: error });
  } finally {
    gunzip.destroy();
  }
}

async function* limited(
  parts: AsyncGenerator<Uint8Array>,
  bytesMax: number,
  kind: string,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const part of parts) {
    bytes += part.length;
    if (bytes > bytesMax) throw new UpstreamError(`the body passes ${bytesMax} bytes${kind}`);
    yield part;
  }
}

async function* bodyParts(response: Response, deadline: Deadline): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await deadline.nextPart(reader.read());
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw error instanceof UpstreamError
      ? error
      : new UpstreamError("the body was cut off", { cause: error });
  } finally {
    reader.cancel().catch(() => {});
    deadline.abort();
  }
}

type Deadline = {
  readonly signal: AbortSignal;
  readonly abort: () => void;
  readonly connected: <T>(promise: Promise<T>) => Promise<T>;
  readonly nextPart: <T>(promise: Promise<T>) => Promise<T>;
};

/** One request's time: until the head, between parts, in all. Passing it ends the connection. */
function createDeadline(limits: UpstreamLimits, clock: Clock): Deadline {
  const controller = new AbortController();
  const end = clock.monotonic() + limits.totalTimeoutMs;
  const within = async <T>(promise: Promise<T>, stepMs: number, what: string): Promise<T> => {
    const leftMs = Math.max(0, end - clock.monotonic());
    const error =
      leftMs < stepMs
        ? new UpstreamError(`not done within ${limits.totalTimeoutMs} ms`)
        : new UpstreamError(`${what} within ${stepMs} ms`);
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => {
        reject(error);
        controller.abort(error);
      },
      Math.min(stepMs, leftMs),
    );
    try {
      return await Promise.race([promise, timeout]);
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    connected: (promise) => within(promise, limits.connectTimeoutMs, "no answer"),
    nextPart: (promise) => within(promise, limits.idleTimeoutMs, "nothing more came"),
  };
}

/** Retry-After in ms, at most an hour: seconds or an HTTP date. Null where there is none that can be read. */
export function retryAfterMs(headers: Headers, now: number): number | null {
  const value = headers.get("retry-after")?.trim() ?? "";
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX);
}
