import type { HttpClient } from "../net/http-client.ts";
import type { OutgoingFailure, OutgoingReply } from "../net/reply.ts";
import type { Clock } from "../platform/clock.ts";
import { pause } from "../platform/pause.ts";
import { PROBE_ORIGIN } from "./checks/http-cors.ts";
import type { Exchange, ExchangeRole } from "./evidence.ts";

export type Planned = { readonly role: ExchangeRole; readonly method: string; readonly url: string };

/** A planned request, and its outcome. */
export type Sent = { readonly exchange: Exchange; readonly reply: OutgoingReply | OutgoingFailure | null };

/** Sends the requests of one scan within their limits. */
export type ProbeSender = {
  /**
   * Sends requests, 4 at a time. Follows redirects and short retry requests while extra requests are left, in the order of
   * the requests, so that two scans of one origin behave alike.
   */
  readonly send: (planned: readonly Planned[]) => Promise<Sent[]>;
  /** Sends as many of these as extra requests are left. */
  readonly sendExtra: (planned: readonly Planned[]) => Promise<Sent[]>;
  /** Follows no redirect to an address that this holds for. */
  readonly avoid: (isAvoided: (url: string) => Promise<boolean>) => void;
  /** The number of requests that may still be sent. */
  readonly left: () => number;
  /** Sets the number of extra requests: those beyond the planned ones. */
  readonly allowExtra: (requests: number) => void;
};

const CONCURRENCY = 4;
/** Requests of one scan. */
export const REQUESTS_MAX = 26;
const REDIRECTS_MAX = 2;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** Redirects that keep the method, which a POST follows. */
const POST_REDIRECTS: readonly number[] = [307, 308];
/** Refusals with a Retry-After. */
const WAITS: readonly number[] = [429, 503];
const WAIT_SECONDS_MAX = 2;
const HEADERS_KEPT_BYTES_MAX = 4096;
/** The length of the challenge is checked too. */
const CHALLENGE_KEPT_BYTES_MAX = 65_536;
const BODY_KEPT_BYTES_MAX = 65_536;
/** Descriptions of whole services are long, and useless when truncated. */
const DESCRIPTION_KEPT_BYTES_MAX = 262_144;
const DESCRIPTIONS: readonly ExchangeRole[] = ["openapi", "well_known"];

/** `deadlineMs` is monotonic. */
export function createProbeSender(
  { client, clock }: { readonly client: HttpClient; readonly clock: Clock },
  deadlineMs: number,
): ProbeSender {
  let requests = 0;
  let extra = 0;
  let isAvoided = async (_url: string): Promise<boolean> => false;

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

  async function inTurn(planned: readonly Planned[]): Promise<Sent[]> {
    const sent: Sent[] = new Array(planned.length);
    let next = 0;
    const work = async () => {
      for (let at = next++; at < planned.length; at = next++) {
        const one = planned[at];
        if (one !== undefined) sent[at] = await sendOnce(one);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    return sent;
  }

  async function send(planned: readonly Planned[]): Promise<Sent[]> {
    const sent = await inTurn(planned);
    const tries = sent.map((): Tries => ({ redirects: 0, waits: 0 }));
    for (;;) {
      const again: NextTry[] = [];
      for (const next of sent.flatMap(({ exchange }, at) => nextTry(exchange, tries[at], at) ?? [])) {
        if (again.length < extra && !(await isAvoided(next.planned.url))) again.push(next);
      }
      if (again.length === 0) return sent;
      extra -= again.length;
      const waitMs = Math.max(...again.map((one) => one.waitMs));
      await pause(waitMs, AbortSignal.timeout(Math.max(0, deadlineMs - clock.monotonic())));
      const answers = await inTurn(again.map(({ planned: one }) => one));
      for (const [n, { at, redirectedTo }] of again.entries()) {
        const answer = answers[n];
        const url = planned[at]?.url;
        if (answer === undefined || url === undefined) continue;
        const led = redirectedTo === undefined ? {} : { redirectedTo };
        sent[at] = { reply: answer.reply, exchange: { ...answer.exchange, url, ...led } };
      }
    }
  }

  return {
    send,
    sendExtra(planned) {
      const some = planned.slice(0, extra);
      extra -= some.length;
      return send(some);
    },
    avoid(holds) {
      isAvoided = holds;
    },
    left: () => REQUESTS_MAX - requests,
    allowExtra(most) {
      extra = most;
    },
  };
}

type Tries = { redirects: number; waits: number };

/** The request that repeats or redirects the one at index `at`. */
type NextTry = {
  readonly at: number;
  readonly planned: Planned;
  readonly waitMs: number;
  readonly redirectedTo: string | undefined;
};

/** Returns the retry or redirect that a reply asks for, and counts it; null where the reply is final. */
function nextTry(exchange: Exchange, tries: Tries | undefined, at: number): NextTry | null {
  const { role, method, url, redirectedTo } = exchange;
  if (tries === undefined || role === "plain_http") return null;
  const from = redirectedTo ?? url;
  const waitMs = tries.waits === 0 ? waitOf(exchange) : null;
  if (waitMs !== null) {
    tries.waits += 1;
    return { at, planned: { role, method, url: from }, waitMs, redirectedTo };
  }
  const to = tries.redirects < REDIRECTS_MAX ? redirectOf(exchange, from) : null;
  if (to === null) return null;
  tries.redirects += 1;
  return { at, planned: { role, method, url: to }, waitMs: 0, redirectedTo: to };
}

function noReply({ role, method, url }: Planned): Exchange {
  return { role, method, url, status: null, ms: null, failure: null, headers: {}, body: "" };
}

function exchangeOf(
  { role, method, url }: Planned,
  { status, headers, timings, body }: OutgoingReply,
): Exchange {
  const ms = Math.round(timings.lookupMs + timings.connectMs + timings.tlsMs + timings.headMs);
  // A 2xx without payment is evidence by its status; its body is not kept.
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

/** Returns the target of a redirect on the same origin, or its upgrade to TLS; else null, as another port is another server. */
function redirectOf({ status, method, headers }: Exchange, from: string): string | null {
  const followed = method === "POST" ? POST_REDIRECTS : REDIRECTS;
  const { location } = headers;
  if (status === null || !followed.includes(status) || location === undefined) return null;
  const [to, before] = [URL.parse(location, from), new URL(from)];
  if (to === null || to.href === from) return null;
  const isUpgrade =
    before.protocol === "http:" && to.origin === `https://${before.hostname}` && before.port === "";
  return to.origin === before.origin || isUpgrade ? to.href : null;
}

/** Returns the Retry-After of a refusal, if it is short; else null. */
function waitOf({ status, headers }: Exchange): number | null {
  const seconds = headers["retry-after"] ?? "";
  const isShort = /^\d$/.test(seconds) && Number(seconds) <= WAIT_SECONDS_MAX;
  return status !== null && WAITS.includes(status) && isShort ? Number(seconds) * 1000 : null;
}
