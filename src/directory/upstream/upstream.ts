import { isIP } from "node:net";
import { isPublicAddress } from "../../dns/public-address.ts";
import type { Clock } from "../../platform/clock.ts";
import { firstAnswer } from "./first-answer.ts";
import { createDeadline, type Deadline, UpstreamError, type UpstreamLimits } from "./upstream-limits.ts";
import { replyOf, type UpstreamReply } from "./upstream-reply.ts";

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
  const addressesOf = async (url: URL): Promise<readonly string[]> => {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const addresses = isIP(host) === 0 ? await resolveHost(host, parts.resolve) : [host];
    const refused = settings.allowPrivate
      ? undefined
      : addresses.find((address) => !isPublicAddress(address));
    if (refused === undefined) return addresses.slice(0, ADDRESSES_MAX);
    throw new UpstreamError(
      `${host} has the private address ${refused}; DIRECTORY_ALLOW_PRIVATE permits that`,
      { shown: "the upstream has a private address; DIRECTORY_ALLOW_PRIVATE permits that" },
    );
  };
  const answerOf = async (
    url: URL,
    addresses: readonly string[],
    headers: Readonly<Record<string, string>>,
    deadline: Deadline,
  ): Promise<Response> => {
    const shareMs = settings.limits.connectTimeoutMs / addresses.length;
    const answer = firstAnswer(addresses, shareMs, (address, given) => {
      return request(url, address, headers, parts.fetch, AbortSignal.any([deadline.signal, given]));
    });
    try {
      return await deadline.connected(answer);
    } catch (error) {
      if (error instanceof UpstreamError) throw error;
      throw new UpstreamError(`no connection to ${url.host}`, { shown: "no connection", cause: error });
    }
  };
  return {
    async get(path, headers) {
      const deadline = createDeadline(settings.limits, parts.clock);
      let url = new URL(`${settings.baseUrl}${path}`);
      for (let redirects = 0; ; redirects++) {
        const addresses = await deadline.connected(addressesOf(url));
        const response = await answerOf(url, addresses, headers, deadline);
        const target = redirectTarget(url, response);
        if (target === null) return replyOf(response, settings.limits, deadline);
        response.body?.cancel().catch(() => {});
        if (!settings.allowRedirects) {
          throw new UpstreamError(`redirected to ${target.origin}; DIRECTORY_ALLOW_REDIRECTS permits that`, {
            shown: "redirected; DIRECTORY_ALLOW_REDIRECTS permits that",
          });
        }
        if (redirects === REDIRECTS_MAX) throw new UpstreamError(`more than ${REDIRECTS_MAX} redirects`);
        if (url.protocol === "https:" && target.protocol !== "https:") {
          throw new UpstreamError(`redirected from https to ${target.origin}`, {
            shown: "redirected from https to http",
          });
        }
        url = target;
      }
    },
  };
}

async function resolveHost(host: string, resolve: UpstreamParts["resolve"]): Promise<readonly string[]> {
  const addresses = await resolve(host).catch((cause: unknown) => {
    throw new UpstreamError(`${host} cannot be resolved`, {
      shown: "the upstream's host cannot be resolved",
      cause,
    });
  });
  if (addresses.length === 0) {
    throw new UpstreamError(`${host} has no address`, { shown: "the upstream's host has no address" });
  }
  return addresses;
}

/** One request at one address, under the host's own name. */
function request(
  url: URL,
  address: string,
  headers: Readonly<Record<string, string>>,
  fetch: UpstreamParts["fetch"],
  signal: AbortSignal,
): Promise<Response> {
  const pinned = new URL(url);
  pinned.hostname = isIP(address) === 6 ? `[${address}]` : address;
  const name = url.hostname.replace(/^\[|\]$/g, "");
  const init: BunFetchRequestInit = {
    headers: { ...headers, Host: url.host, "Accept-Encoding": "gzip" },
    redirect: "manual",
    decompress: false,
    signal,
    ...(url.protocol === "https:" && isIP(name) === 0 ? { tls: { serverName: name } } : {}),
  };
  return fetch(pinned.href, init);
}

function redirectTarget(url: URL, response: Response): URL | null {
  if (![301, 302, 303, 307, 308].includes(response.status)) return null;
  const target = URL.parse(response.headers.get("location") ?? "", url.href);
  if (target === null || !/^https?:$/.test(target.protocol)) throw new UpstreamError("redirected to nowhere");
  return target;
}

/** Retry-After in ms, at most an hour: seconds or an HTTP date. Null where there is none that can be read. */
export function retryAfterMs(headers: Headers, now: number): number | null {
  const value = headers.get("retry-after")?.trim() ?? "";
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX);
}
