import type { HttpClient } from "../net/http-client.ts";
import type { OutgoingFailure, OutgoingReply } from "../net/reply.ts";
import type { Clock } from "../platform/clock.ts";
import { pause } from "../platform/pause.ts";
import { PROBE_ORIGIN } from "./checks/http-cors.ts";
import type { Exchange, ExchangeRole } from "./evidence.ts";

export type Planned = { readonly role: ExchangeRole; readonly method: string; readonly url: string };

/** A request that was sent, or was to be, and what came of it. */
export type Sent = { readonly exchange: Exchange; readonly reply: OutgoingReply | OutgoingFailure | null };

export type SendProbe = (planned: Planned) => Promise<Sent>;

/** Sends the requests of one scan, and counts them. */
export type ProbeSender = {
  /** Follows redirects, and tries once more what is told to wait, as long as extra requests are left. */
  readonly send: SendProbe;
  /** Sends one that not every scan sends; null where no extra request is left. */
  readonly sendExtra: (planned: Planned) => Promise<Sent | null>;
  /** How many requests may still be sent. */
  readonly left: () => number;
  /** Sets how many requests beyond those that are planned may be sent from now on. */
  readonly allowExtra: (requests: number) => void;
};

/** Of a scan. */
export const REQUESTS_MAX = 26;
const REDIRECTS_MAX = 2;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** To these a call without a body may be sent anew by the same method. */
const POST_REDIRECTS: readonly number[] = [307, 308];
/** Refusals that pass, where they say so. */
const WAITS: readonly number[] = [429, 503];
const WAIT_SECONDS_MAX = 2;
const HEADERS_KEPT_BYTES_MAX = 4096;
/** The challenge is judged by its length too. */
const CHALLENGE_KEPT_BYTES_MAX = 65_536;
const BODY_KEPT_BYTES_MAX = 65_536;
/** Descriptions of whole services are long, and of no use where they are cut. */
const DESCRIPTION_KEPT_BYTES_MAX = 262_144;
const DESCRIPTIONS: readonly ExchangeRole[] = ["openapi", "well_known"];

/** `deadlineMs` is monotonic. */
export function createProbeSender(
  { client, clock }: { readonly client: HttpClient; readonly clock: Clock },
  deadlineMs: number,
): ProbeSender {
  let requests = 0;
  let extra = 0;

  async function sendOnce(planned: Planned): Promise<Sent> {
    const leftMs = deadlineMs - clock.monotonic();
    if (requests >= REQUESTS_MAX || leftMs <= 0) {
      return { exchange: { ...noReply(planned), failure: "the scan was at its limit" }, reply: null };
    }
    requests += 1;
    const { role, method, url } = planned;
    const reply = await client.send(url, {
      method,
      headers: { origin: PROBE_ORIGIN },
      signal: AbortSignal.timeout(Math.ceil(leftMs)),
      truncateBody: true,
      bodyBytesMax: DESCRIPTIONS.includes(role) ? DESCRIPTION_KEPT_BYTES_MAX : BODY_KEPT_BYTES_MAX,
    });
    return {
      reply,
      exchange: reply.ok ? exchangeOf(planned, reply) : { ...noReply(planned), failure: reply.reason },
    };
  }

  function takeExtra(): boolean {
    if (extra <= 0) return false;
    extra -= 1;
    return true;
  }

  async function sendPatiently(planned: Planned): Promise<Sent> {
    const first = await sendOnce(planned);
    const waitMs = waitOf(first.exchange);
    if (waitMs === null || clock.monotonic() + waitMs >= deadlineMs || !takeExtra()) return first;
    await pause(waitMs, AbortSignal.timeout(deadlineMs - clock.monotonic()));
    return await sendOnce(planned);
  }

  async function send(planned: Planned): Promise<Sent> {
    let sent = await sendPatiently(planned);
    for (let followed = 0; followed < REDIRECTS_MAX && planned.role !== "plain_http"; followed++) {
      const { exchange } = sent;
      const to = redirectOf(exchange, exchange.redirectedTo ?? planned.url);
      if (to === null || !takeExtra()) break;
      const next = await sendPatiently({ ...planned, url: to });
      sent = { reply: next.reply, exchange: { ...next.exchange, url: planned.url, redirectedTo: to } };
    }
    return sent;
  }

  return {
    send,
    sendExtra: async (planned) => (takeExtra() ? await send(planned) : null),
    left: () => REQUESTS_MAX - requests,
    allowExtra(most) {
      extra = most;
    },
  };
}

function noReply({ role, method, url }: Planned): Exchange {
  return { role, method, url, status: null, ms: null, failure: null, headers: {}, body: "" };
}

function exchangeOf(
  { role, method, url }: Planned,
  { status, headers, timings, body }: OutgoingReply,
): Exchange {
  const ms = Math.round(timings.lookupMs + timings.connectMs + timings.tlsMs + timings.headMs);
  // An answer that was not paid for is evidence that it came, and is not kept.
  const isLeak = role.startsWith("resource") && status < 300;
  const kept = { headers: keptHeaders(headers), body: isLeak ? "" : new TextDecoder().decode(body) };
  return { role, method, url, status, ms, failure: null, ...kept };
}

function keptHeaders(headers: Headers): { readonly [name: string]: string } {
  const kept: { [name: string]: string } = {};
  for (const [name, value] of headers) {
    const bytesMax = name === "payment-required" ? CHALLENGE_KEPT_BYTES_MAX : HEADERS_KEPT_BYTES_MAX;
    if (name !== "set-cookie") kept[name] = value.slice(0, bytesMax);
  }
  return kept;
}

/** Returns where a reply sends its caller on the same host, and not out of TLS; null where it does not. */
function redirectOf({ status, method, headers }: Exchange, from: string): string | null {
  const followed = method === "POST" ? POST_REDIRECTS : REDIRECTS;
  const { location } = headers;
  if (status === null || !followed.includes(status) || location === undefined) return null;
  const [to, before] = [URL.parse(location, from), new URL(from)];
  if (to === null || to.hostname !== before.hostname || to.href === from) return null;
  return to.protocol === before.protocol || to.protocol === "https:" ? to.href : null;
}

/** Returns how long a refusal asks to wait, where that is short; null for any other reply. */
function waitOf({ status, headers }: Exchange): number | null {
  const seconds = headers["retry-after"] ?? "";
  const isShort = /^\d$/.test(seconds) && Number(seconds) <= WAIT_SECONDS_MAX;
  return status !== null && WAITS.includes(status) && isShort ? Number(seconds) * 1000 : null;
}
