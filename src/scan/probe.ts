import type { HttpClient } from "../net/http-client.ts";
import { isDisallowed, pathOf, robotsRules } from "../net/robots.ts";
import type { Clock } from "../platform/clock.ts";
import type { Steps } from "../platform/steps.ts";
import {
  type DnsEvidence,
  type Evidence,
  type Exchange,
  type ExchangeRole,
  jsonOf,
  type Resource,
  type TlsEvidence,
} from "./evidence.ts";
import { createProbeSender, type Planned, REQUESTS_MAX, type Sent } from "./probe-sender.ts";
import { probeResources, REQUESTS_OF_RESOURCE } from "./resource-probes.ts";
import { resourcesOf } from "./resources.ts";

export type ProbeDependencies = {
  readonly client: HttpClient;
  readonly clock: Clock;
  /** Resolves the host. Never rejects. */
  readonly lookUp: (host: string) => Promise<DnsEvidence>;
  /** Returns a random path segment that does not exist on any server. */
  readonly randomName: () => string;
  /** Steps for parsing the target's bodies. */
  readonly step: Steps;
};

export type ProbeRequest = {
  /** Normalised: lower case, without a default port. */
  readonly origin: string;
  /** At most 5, of the origin. */
  readonly resources: readonly string[];
  /** Who names them speaks for the origin: the report is for him alone. */
  readonly isOwner: boolean;
  /** Resources of the origin from the directory. */
  readonly known: readonly Resource[];
  /** The start of the scan, monotonic. */
  readonly startedMs: number;
};

/** The product token of the User-Agent, which robots.txt may name. */
export const SCAN_AGENT = "assay-scan";

/** The part of a scan's 20 s for probing; the rest is for the checks and the report. */
const PROBING_MS_MAX = 18_500;
/** Requests for redirects, other places and retries before the resources are probed. */
const EXTRA_REQUESTS_MAX = 6;
/** Addresses that are matched against robots.txt, of those that the origin names: a scan asks a few. */
const ADDRESSES_MAX = 100;

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

/** Alternative places of descriptions. */
const OTHER_PLACES: readonly (readonly [ExchangeRole, string])[] = [
  ["openapi", "/.well-known/openapi.json"],
  ["well_known", "/.well-known/x402.json"],
];

/**
 * Gathers the evidence of one origin: at most 26 requests, 4 at a time, within 18.5 s of the start of the scan, none of them
 * with a payment. Returns null where robots.txt disallows this agent.
 */
export async function probeOrigin(
  dependencies: ProbeDependencies,
  request: ProbeRequest,
): Promise<Evidence | null> {
  const { clock, lookUp, randomName, step } = dependencies;
  const { origin } = request;
  const scannedAt = clock.now();
  const sender = createProbeSender(dependencies, request.startedMs + PROBING_MS_MAX);
  const plan = plannedFiles(origin, randomName());
  // The caller's resources are probed first, even if other requests are dropped for them.
  const promised = 1 + plan.length + REQUESTS_OF_RESOURCE * request.resources.length;
  sender.allowExtra(Math.min(EXTRA_REQUESTS_MAX, REQUESTS_MAX - promised));
  const [dns, robots] = await Promise.all([
    lookUp(new URL(origin).hostname),
    sender.send([{ role: "robots", method: "GET", url: `${origin}/robots.txt` }]),
  ]);
  const robotsText = robots[0]?.exchange.status === 200 ? robots[0].exchange.body : "";
  const rules = await step(() => robotsRules(robotsText, SCAN_AGENT));
  const keepsOut = (url: string) => step(() => isDisallowed(rules, pathOf(url)));
  if (await keepsOut(origin)) return null;
  sender.avoid(keepsOut);
  const allowed = await firstAllowed(plan, keepsOut, plan.length);
  const kept = plan
    .filter((one) => !allowed.includes(one))
    .map((one) => notSent(one, "robots.txt keeps this scan out"));
  const files = [...robots, ...(await sender.send(allowed)), ...kept];
  await readAll(files, step);
  const others = await sender.sendExtra(
    await firstAllowed(otherPlaces(origin, files), keepsOut, OTHER_PLACES.length),
  );
  await readAll(others, step);
  // A valid description at the alternative place counts; otherwise the usual place is reported.
  const good = others.filter(isDescription);
  const found = [...good, ...files, ...others.filter((sent) => !good.includes(sent))];
  const partial: Evidence = {
    origin,
    scannedAt,
    dns,
    tls: null,
    resources: [],
    exchanges: exchangesIn(found),
  };
  const addresses = (await step(() => resourcesOf(partial, request))).slice(0, ADDRESSES_MAX);
  const named = await firstAllowed(addresses, keepsOut, sender.left());
  const { resources, sent } = await probeResources(sender, named);
  const all = [...found, ...sent];
  return { ...partial, tls: tlsOf(origin, all), resources, exchanges: exchangesIn(all) };
}

/** Returns the first `most` that robots.txt allows. */
async function firstAllowed<One extends { readonly url: string }>(
  all: readonly One[],
  keepsOut: (url: string) => Promise<boolean>,
  most: number,
): Promise<readonly One[]> {
  const allowed: One[] = [];
  for (const one of all) {
    if (allowed.length === most) break;
    if (!(await keepsOut(one.url))) allowed.push(one);
  }
  return allowed;
}

/** Parses each body in a step of its own, as the target may have made them long. */
async function readAll(sent: readonly Sent[], step: Steps): Promise<void> {
  for (const { exchange } of sent) await step(() => jsonOf(exchange));
}

function exchangesIn(sent: readonly Sent[]): Exchange[] {
  return sent.map(({ exchange }) => exchange);
}

function plannedFiles(origin: string, unknownName: string): Planned[] {
  const plain = new URL(origin);
  plain.protocol = "http:";
  const planned: Planned[] = FILES.map(([role, path]) => ({ role, method: "GET", url: `${origin}${path}` }));
  planned.push({ role: "unknown_path", method: "GET", url: `${origin}/${unknownName}` });
  if (origin.startsWith("https:") && plain.port === "") {
    planned.push({ role: "plain_http", method: "GET", url: `${plain.origin}/` });
  }
  return planned;
}

/** Returns the alternative places of descriptions that the usual place answered without. */
function otherPlaces(origin: string, files: readonly Sent[]): Planned[] {
  return OTHER_PLACES.flatMap(([role, path]) => {
    const usual = files.find(({ exchange }) => exchange.role === role);
    const isMissing = usual !== undefined && usual.exchange.status !== null && !isDescription(usual);
    return isMissing ? [{ role, method: "GET", url: `${origin}${path}` }] : [];
  });
}

function isDescription({ exchange }: Sent): boolean {
  return exchange.status === 200 && jsonOf(exchange) !== null;
}

function notSent({ role, method, url }: Planned, failure: string): Sent {
  return {
    exchange: { role, method, url, status: null, ms: null, failure, headers: {}, body: "" },
    reply: null,
  };
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
