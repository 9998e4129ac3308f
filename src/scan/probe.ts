import type { HttpClient } from "../net/http-client.ts";
import type { OutgoingFailure, OutgoingReply } from "../net/reply.ts";
import type { Clock } from "../platform/clock.ts";
import { isMarked, operationsOf } from "./checks/disc-openapi.ts";
import { resourceUrls } from "./checks/disc-wellknown.ts";
import { isDisallowed } from "./checks/ops-signals.ts";
import {
  type DnsEvidence,
  type Evidence,
  type Exchange,
  type ExchangeRole,
  exchangeOf,
  isFields,
  jsonOf,
  type Resource,
  type TlsEvidence,
  written,
} from "./evidence.ts";

export type ProbeDependencies = {
  readonly client: HttpClient;
  readonly clock: Clock;
  /** Looks up the addresses of the host. Never rejects. */
  readonly lookUp: (host: string) => Promise<DnsEvidence>;
  /** Letters and digits for a path that exists nowhere. */
  readonly randomName: () => string;
};

export type ProbeRequest = {
  /** Normalised: lower case, without a default port. */
  readonly origin: string;
  /** At most 5, of the origin. */
  readonly resources: readonly string[];
  /** What the directory knows of the origin's resources. */
  readonly known: readonly Resource[];
  /** When the scan began, monotonic. */
  readonly startedMs: number;
};

/** What a server sees of us, and what robots.txt may name to keep us out. */
export const SCAN_AGENT = "assay-scan";

const RESOURCES_MAX = 5;
const CONCURRENCY = 4;
const REQUESTS_MAX = 26;
/** Of the 20 s that a scan may take: the rest is for the checks and the report. */
const PROBING_MS_MAX = 18_500;
const HEADERS_KEPT_BYTES_MAX = 4096;
const BODY_KEPT_BYTES_MAX = 65_536;
/** Descriptions of whole services are long, and of no use where they are cut. */
const DESCRIPTION_KEPT_BYTES_MAX = 262_144;
const DESCRIPTIONS: readonly ExchangeRole[] = ["openapi", "well_known"];

type Planned = { readonly role: ExchangeRole; readonly method: string; readonly url: string };

const FILES: readonly (readonly [ExchangeRole, string])[] = [
  ["root", "/"],
  ["llms", "/llms.txt"],
  ["openapi", "/openapi.json"],
  ["well_known", "/.well-known/x402"],
  ["agent_card", "/.well-known/agent-card.json"],
  ["api_catalog", "/.well-known/api-catalog"],
  ["security", "/.well-known/security.txt"],
  ["health", "/health"],
];

/**
 * Gathers the evidence of one origin: at most 26 requests, 4 at a time, until 18.5 s after the scan began, none of them
 * with a payment. Returns null where robots.txt keeps this agent out.
 */
export async function probeOrigin(
  dependencies: ProbeDependencies,
  request: ProbeRequest,
): Promise<Evidence | null> {
  const { clock, lookUp, randomName } = dependencies;
  const { origin } = request;
  const scannedAt = clock.now();
  const send = createSender(dependencies, request.startedMs + PROBING_MS_MAX);
  const [dns, robots] = await Promise.all([
    lookUp(new URL(origin).hostname),
    send({ role: "robots", method: "GET", url: `${origin}/robots.txt` }),
  ]);
  if (robots.exchange.status === 200 && isDisallowed(robots.exchange.body, SCAN_AGENT, "/")) return null;
  const plain = new URL(origin);
  plain.protocol = "http:";
  const planned: Planned[] = FILES.map(([role, path]) => ({ role, method: "GET", url: `${origin}${path}` }));
  planned.push({ role: "unknown_path", method: "GET", url: `${origin}/${randomName()}` });
  if (origin.startsWith("https:") && plain.port === "") {
    planned.push({ role: "plain_http", method: "GET", url: `${plain.origin}/` });
  }
  const files = await inTurn(planned, send);
  const exchanges = [robots, ...files].map(({ exchange }) => exchange);
  const partial: Evidence = { origin, scannedAt, dns, tls: null, resources: [], exchanges };
  const resources = resourcesOf(partial, request);
  const paid = await inTurn(resources.flatMap(probesOf), send);
  const all = [robots, ...files, ...paid];
  return {
    ...partial,
    tls: tlsOf(origin, all),
    resources,
    exchanges: all.map(({ exchange }) => exchange),
  };
}

type Sent = { readonly exchange: Exchange; readonly reply: OutgoingReply | OutgoingFailure | null };

function createSender(
  { client, clock }: ProbeDependencies,
  deadlineMs: number,
): (planned: Planned) => Promise<Sent> {
  let requests = 0;
  return async ({ role, method, url }) => {
    const leftMs = deadlineMs - clock.monotonic();
    const none = { role, method, url, status: null, ms: null, headers: {}, body: "" };
    requests += 1;
    if (requests > REQUESTS_MAX || leftMs <= 0) {
      return { exchange: { ...none, failure: "the scan was at its limit" }, reply: null };
    }
    const reply = await client.send(url, {
      method,
      headers: { origin: "https://example.com" },
      signal: AbortSignal.timeout(Math.ceil(leftMs)),
      truncateBody: true,
      bodyBytesMax: DESCRIPTIONS.includes(role) ? DESCRIPTION_KEPT_BYTES_MAX : BODY_KEPT_BYTES_MAX,
    });
    if (!reply.ok) return { exchange: { ...none, failure: reply.reason }, reply };
    const { timings } = reply;
    const ms = Math.round(timings.lookupMs + timings.connectMs + timings.tlsMs + timings.headMs);
    // An answer that was not paid for is evidence that it came, and is not kept.
    const isLeak = role.startsWith("resource") && reply.status < 300;
    const body = isLeak ? "" : Buffer.from(reply.body).toString("utf8");
    return {
      reply,
      exchange: {
        role,
        method,
        url,
        status: reply.status,
        ms,
        failure: null,
        headers: keptHeaders(reply.headers),
        body,
      },
    };
  };
}

function keptHeaders(headers: Headers): { readonly [name: string]: string } {
  const kept: { [name: string]: string } = {};
  for (const [name, value] of headers) {
    // The challenge is judged by its length too.
    const bytesMax = name === "payment-required" ? 65_536 : HEADERS_KEPT_BYTES_MAX;
    if (name !== "set-cookie") kept[name] = value.slice(0, bytesMax);
  }
  return kept;
}

async function inTurn(
  planned: readonly Planned[],
  send: (planned: Planned) => Promise<Sent>,
): Promise<Sent[]> {
  const sent: Sent[] = new Array(planned.length);
  let next = 0;
  const work = async () => {
    for (let at = next++; at < planned.length; at = next++) {
      const one = planned[at];
      if (one !== undefined) sent[at] = await send(one);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return sent;
}

/** The declared method, and a POST without a body where that is another. HEAD where the resource is read. */
function probesOf({ method, url }: Resource): Planned[] {
  if (method === "POST") return [{ role: "resource", method: "POST", url }];
  return [
    { role: "resource", method: "GET", url },
    { role: "resource_head", method: "HEAD", url },
    { role: "resource_post", method: "POST", url },
  ];
}

/** Returns the resources to ask, at most 5: the caller's first, then those that the origin names itself. */
function resourcesOf(evidence: Evidence, { origin, resources, known }: ProbeRequest): readonly Resource[] {
  const { hostname } = new URL(origin);
  const openapi = jsonOf(exchangeOf(evidence, "openapi"));
  const wellKnown = jsonOf(exchangeOf(evidence, "well_known"));
  const paid = openapi === null ? [] : operationsOf(openapi).filter(({ operation }) => isMarked(operation));
  const found: Resource[] = [
    ...resources.map((url) => named("GET", url, "caller")),
    ...paid.flatMap(({ method, path, operation }) => {
      const url = URL.parse(path, origin);
      if (url === null) return [];
      const listedMicroUsd = priceOf(operation["x-payment-info"]);
      return [{ ...named(method === "POST" ? "POST" : "GET", url.href, "openapi"), listedMicroUsd }];
    }),
    ...(wellKnown === null
      ? []
      : resourceUrls(wellKnown, origin).map(({ href }) => named("GET", href, "well_known"))),
    ...known,
  ];
  const byUrl = new Map<string, Resource>();
  for (const resource of found) {
    if (URL.parse(resource.url)?.hostname !== hostname) continue;
    const first = byUrl.get(resource.url);
    // The document of the service knows the method; the caller knows that it matters.
    const method = resource.source === "openapi" ? resource.method : (first?.method ?? resource.method);
    const listedMicroUsd = first?.listedMicroUsd ?? resource.listedMicroUsd;
    byUrl.set(resource.url, { ...resource, ...first, method, listedMicroUsd });
  }
  return [...byUrl.values()].slice(0, RESOURCES_MAX);
}

function named(method: string, url: string, source: Resource["source"]): Resource {
  return { method, url, source, listedMicroUsd: null, knownPayees: [] };
}

/** Reads `x-payment-info`: `{"price":{"amount":"0.01"}}`, in USD. */
function priceOf(info: unknown): number | null {
  const price = isFields(info) && isFields(info.price) ? info.price : null;
  const amount = Number(written(price?.amount));
  return Number.isFinite(amount) && amount > 0 ? Math.round(amount * 1_000_000) : null;
}

function tlsOf(origin: string, sent: readonly Sent[]): TlsEvidence | null {
  if (!origin.startsWith("https:")) return null;
  for (const { reply } of sent) {
    const tls = reply?.ok === undefined ? null : (reply.peer?.tls ?? null);
    if (tls !== null)
      return { isValid: tls.authorized, error: tls.error, protocol: tls.protocol, validTo: tls.validTo };
  }
  return null;
}
