import { OutgoingError } from "../../net/failure.ts";
import { createHttpClient } from "../../net/http-client.ts";
import type { OpenReply, OutgoingFailure } from "../../net/reply.ts";
import { retryAfterMs } from "../../net/retry-after.ts";
import type { OutgoingDependencies } from "../../net/target-connection.ts";
import { UpstreamError, type UpstreamLimits } from "./upstream-limits.ts";

export type UpstreamSettings = {
  readonly baseUrl: string;
  readonly allowPrivate: boolean;
  readonly allowRedirects: boolean;
  readonly limits: UpstreamLimits;
};

export type UpstreamReply = {
  readonly status: number;
  readonly headers: Headers;
  /** The decompressed body, within the limits. Read it once, or call `cancel`. Throws UpstreamError. */
  readonly body: AsyncGenerator<Uint8Array>;
  readonly cancel: () => void;
};

export type Upstream = {
  /** Throws UpstreamError where no reply arrives. Any status is a reply, but a redirect that is not allowed. */
  readonly get: (path: string, headers: Readonly<Record<string, string>>) => Promise<UpstreamReply>;
};

const REDIRECTS_MAX = 3;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const RETRY_AFTER_MS_MAX = 3_600_000;

/** Creates the client of an upstream: the one outgoing HTTP client, for any port and any public address. */
export function createUpstream(settings: UpstreamSettings, dependencies: OutgoingDependencies): Upstream {
  const { baseUrl, allowPrivate, allowRedirects, limits } = settings;
  const client = createHttpClient(dependencies, {
    allowPrivate,
    allowLiterals: true,
    ports: "any",
    redirectsMax: allowRedirects ? REDIRECTS_MAX : 0,
    allowOtherHosts: true,
    acceptGzip: true,
    limits: {
      lookupTimeoutMs: limits.connectTimeoutMs,
      connectTimeoutMs: limits.connectTimeoutMs,
      headTimeoutMs: limits.connectTimeoutMs,
      idleTimeoutMs: limits.idleTimeoutMs,
      totalTimeoutMs: limits.totalTimeoutMs,
      bodyBytesMax: limits.rawBytesMax,
      decodedBytesMax: limits.inflatedBytesMax,
    },
  });
  return {
    async get(path, headers) {
      const url = `${baseUrl}${path}`;
      const reply = await client.open(url, { headers });
      if (!reply.ok) throw errorOf(reply, new URL(url).host);
      if (!allowRedirects) refuseRedirect(reply);
      const { status, headers: fields, body, cancel } = reply;
      return { status, headers: fields, body: rethrowing(body), cancel };
    },
  };
}

function refuseRedirect({ status, headers, url, cancel }: OpenReply): void {
  if (!REDIRECTS.includes(status)) return;
  cancel();
  const target = URL.parse(headers.get("location") ?? "", url);
  throw new UpstreamError(
    `redirected to ${target?.origin ?? "nowhere"}; DIRECTORY_ALLOW_REDIRECTS permits that`,
    {
      shown: "redirected; DIRECTORY_ALLOW_REDIRECTS permits that",
    },
  );
}

/** Returns the error for a failed call, which names the setting that permits it. */
function errorOf({ reason, message, cause }: OutgoingFailure, host: string): UpstreamError {
  switch (reason) {
    case "dns_not_found":
    case "dns_failed":
    case "dns_timeout":
      return new UpstreamError(message, { shown: "the upstream's host cannot be resolved" });
    case "private_address":
    case "local_name":
      return new UpstreamError(`${message}; DIRECTORY_ALLOW_PRIVATE permits that`, {
        shown: "the upstream has a private address; DIRECTORY_ALLOW_PRIVATE permits that",
      });
    case "certificate_invalid":
      return new UpstreamError(`${host}: ${message}`, { shown: "the upstream's certificate is not good" });
    case "connect_failed":
    case "tls_failed":
      return new UpstreamError(`no connection to ${host}`, { shown: "no connection", cause });
    case "connect_timeout":
      return new UpstreamError(message, { shown: "no connection" });
    case "insecure_redirect":
      return new UpstreamError(message, { shown: "redirected from https to http" });
    default:
      return new UpstreamError(message);
  }
}

async function* rethrowing(body: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error;
    const isTruncated = error.reason === "body_incomplete";
    throw new UpstreamError(isTruncated ? "the body was cut off" : error.message, { cause: error });
  }
}

/** Returns the Retry-After of a reply in ms, at most an hour; null without one. */
export function waitMsOf(headers: Headers, now: number): number | null {
  const ms = retryAfterMs(headers.get("retry-after"), now);
  return ms === null ? null : Math.min(ms, RETRY_AFTER_MS_MAX);
}

/** Cancels an unexpected reply and returns the error for it. */
export function refusalOf(reply: UpstreamReply, what: string, now: number): UpstreamError {
  reply.cancel();
  return new UpstreamError(`${what} answers ${reply.status}`, {
    retryAfterMs: waitMsOf(reply.headers, now),
  });
}
