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
  /** Looks up the addresses of the host. Never rejects. */
  readonly lookUp: (host: string) => Promise<DnsEvidence>;
  /** Letters and digits for a path that exists nowhere. */
  readonly randomName: () => string;
  /** What reads the target's bodies goes by. */
  readonly step: Steps;
};

export type ProbeRequest = {
  /** Normalised: lower case, without a default port. */
  readonly origin: string;
  /** At most 5, of the origin. */
  readonly resources: readonly string[];
  /** Who names them speaks for the origin: the report is for him alone. */
  readonly isOwner: boolean;
  /** What the directory knows of the origin's resources. */
  readonly known: readonly Resource[];
  /** When the scan began, monotonic. */
  readonly startedMs: number;
};

/** What a server sees of us, and what robots.txt may name to keep us out. */
export const SCAN_AGENT = "assay-scan";

/** Of the 20 s that a scan may take: the rest is for the checks and the report. */
const PROBING_MS_MAX = 18_500;
/** Requests that redirects, other places and second tries may take before the resources are asked. */
const EXTRA_REQUESTS_MAX = 6;

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

/** Where a description may stand instead. */
const OTHER_PLACES: readonly (readonly [ExchangeRole, string])[] = [
  ["openapi", "/.well-known/openapi.json"],
  ["well_known", "/.well-known/x402.json"],
];

/**
 * Gathers the evidence of one origin: at most 26 requests, 4 at a time, until 18.5 s after the scan began, none of them
 * with a payment. Returns null where robots.txt keeps this agent out.
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
  // Whom the caller has named is asked, whatever else may be left out for it.
  const promised = 1 + plan.length + REQUESTS_OF_RESOURCE * request.resources.length;
  sender.allowExtra(Math.min(EXTRA_REQUESTS_MAX, REQUESTS_MAX - promised));
  const [dns, robots] = await Promise.all([
    lookUp(new URL(origin).hostname),
    sender.send([{ role: "robots", method: "GET", url: `${origin}/robots.txt` }]),
  ]);
  const robotsText = robots[0]?.exchange.status === 200 ? robots[0].exchange.body : "";
  const rules = await step(() => robotsRules(robotsText, SCAN_AGENT));
  const keepsOut = ({ url }: { readonly url: string }) => isDisallowed(rules, pathOf(url));
  if (keepsOut({ url: origin })) return null;
  const isAllowed = (one: { readonly url: string }) => !keepsOut(one);
  const kept = plan.filter(keepsOut).map((one) => notSent(one, "robots.txt keeps this scan out"));
  const files = [...robots, ...(await sender.send(plan.filter(isAllowed))), ...kept];
  await readAll(files, step);
  const others = await sender.sendExtra(otherPlaces(origin, files).filter(isAllowed));
  await readAll(others, step);
  // What stands at the other place counts where it is good; else the usual place is the one that is reported.
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
  const named = (await step(() => resourcesOf(partial, request))).filter(isAllowed);
  const { resources, sent } = await probeResources(sender, named);
  const all = [...found, ...sent];
  return { ...partial, tls: tlsOf(origin, all), resources, exchanges: exchangesIn(all) };
}

/** Reads each body in a step of its own: the target may have made them long. */
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

/** Returns the other places of descriptions that were answered with something else at the usual one. */
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
