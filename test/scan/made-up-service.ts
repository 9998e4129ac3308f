import { join } from "node:path";
import { type ConnectionOptions, connect } from "../../src/net/connection.ts";
import { createHttpClient } from "../../src/net/http-client.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { atOnce } from "../../src/platform/steps.ts";
import type { CheckStatus } from "../../src/scan/check.ts";
import { createDnsEvidence } from "../../src/scan/dns-evidence.ts";
import type { Evidence, Resource } from "../../src/scan/evidence.ts";
import { probeOrigin } from "../../src/scan/probe.ts";
import { scoreEvidence } from "../../src/scan/score.ts";

/** A paid service without a fault, over TLS, of which a test replaces a part. */

const CERTIFICATES = join(import.meta.dir, "../support/certificates");
const HOST = "good.example";

export type Answer = (request: Request, origin: string) => Response | Promise<Response>;

export type ServiceChanges = {
  /** By path, or `*` for what has no path of its own. */
  readonly answers?: { readonly [path: string]: Answer };
  /** Changes the challenge before it is sent. */
  readonly challenge?: (challenge: Challenge) => unknown;
  /** Changes every reply; null removes a header. */
  readonly headers?: { readonly [name: string]: string | null };
  readonly certificate?: "good" | "expired";
  readonly unresolved?: boolean;
  /** Nobody knows who has signed the certificate. */
  readonly unknownAuthority?: boolean;
  /** What answers plain http; with it both stand on their usual ports. */
  readonly plain?: Answer;
  /** What each answer takes, in milliseconds of a clock that is `SPEED` times as fast as ours. */
  readonly answerMs?: number;
};

const SPEED = 100;

export type Challenge = ReturnType<typeof goodChallenge>;

const ENTRY = {
  scheme: "exact",
  network: "eip155:8453",
  amount: "10000",
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  maxTimeoutSeconds: 60,
  extra: { name: "USD Coin", version: "2" } as { [name: string]: string },
};

function goodChallenge(url: string) {
  return {
    x402Version: 2,
    resource: { url, description: "An answer.", mimeType: "application/json" },
    accepts: [ENTRY],
    extensions: { bazaar: { info: { input: { type: "http" } }, schema: { required: ["input"] } } },
  };
}

export function challengeReply(challenge: unknown): Response {
  const headers = { "PAYMENT-REQUIRED": btoa(JSON.stringify(challenge)), "Cache-Control": "no-store" };
  return Response.json({}, { status: 402, headers });
}

const notFound = () =>
  Response.json({ error: { code: "not_found", message: "Nothing here." } }, { status: 404 });
const text = (body: string) => () => new Response(body, { headers: { "Content-Type": "text/plain" } });

export function openApi(operation: object) {
  return { openapi: "3.1.0", paths: { "/v1/paid": { get: operation } } };
}

const PAID_OPERATION = {
  "x-payment-info": { price: { mode: "fixed", currency: "USD", amount: "0.01" }, protocols: ["x402"] },
  responses: { 402: { description: "Payment required." } },
};

function goodAnswers({ challenge = (it) => it }: ServiceChanges): { readonly [path: string]: Answer } {
  return {
    "/": () => Response.json({ name: "A service" }),
    "/robots.txt": text("User-agent: *\nAllow: /\n"),
    "/llms.txt": text("# A service\n\n- [API](https://good.example/openapi.json)\n"),
    "/openapi.json": () => Response.json(openApi(PAID_OPERATION)),
    "/.well-known/x402": (_request, origin) =>
      Response.json({ version: 1, resources: [`${origin}/v1/paid`] }),
    "/.well-known/api-catalog": () => Response.json({ linkset: [] }),
    "/.well-known/security.txt": text("Contact: mailto:security@good.example\n"),
    "/health": () => Response.json({ status: "healthy" }),
    "/v1/paid": (_request, origin) => challengeReply(challenge(goodChallenge(`${origin}/v1/paid`))),
    "*": notFound,
  };
}

const HEADERS: { readonly [name: string]: string } = {
  "Strict-Transport-Security": "max-age=31536000",
  "X-Content-Type-Options": "nosniff",
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "PAYMENT-REQUIRED, PAYMENT-RESPONSE",
};

/** Starts the service with these changes. */
export function startMadeUpService(changes: ServiceChanges) {
  const { certificate = "good" } = changes;
  const answers = { ...goodAnswers(changes), ...changes.answers };
  const file = (name: string) => Bun.file(join(CERTIFICATES, name));
  const requests: string[] = [];
  const plain = changes.plain === undefined ? null : startPlain(changes.plain);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: { key: file(`${certificate}.key`), cert: file(`${certificate}.pem`) },
    async fetch(request) {
      const { pathname } = new URL(request.url);
      requests.push(`${request.method} ${pathname}`);
      const answer = answers[pathname] ?? answers["*"] ?? notFound;
      if (changes.answerMs !== undefined) await Bun.sleep(changes.answerMs / SPEED);
      const response = await answer(request, origin);
      for (const [name, value] of Object.entries({ ...HEADERS, ...changes.headers })) {
        if (value !== null && !response.headers.has(name)) response.headers.set(name, value);
      }
      return response;
    },
  });
  const origin = plain === null ? `https://${HOST}:${server.port}` : `https://${HOST}`;
  const ports = new Map([
    [443, server.port],
    [80, plain?.port],
  ]);
  return {
    origin,
    requests,
    connect: (options: ConnectionOptions) =>
      connect({ ...options, port: ports.get(options.port) ?? options.port }),
    [Symbol.dispose]: () => {
      server.stop(true);
      plain?.stop(true);
    },
  };
}

function startPlain(answer: Answer) {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => answer(request, `https://${HOST}`),
  });
}

/** The authority of the certificates, as a file. */
export const AUTHORITY_FILE = join(CERTIFICATES, "ca.pem");

/** Starts the service with these changes, scans it and ends it. */
export async function scanMadeUp(changes: ServiceChanges): Promise<Evidence | null> {
  using service = startMadeUpService(changes);
  return await scanService(service, changes);
}

/** As `scanMadeUp`, of a service whose robots.txt keeps no scan out. */
export async function scan(changes: ServiceChanges): Promise<Evidence> {
  const evidence = await scanMadeUp(changes);
  if (evidence === null) throw new Error("kept out");
  return evidence;
}

/** What each check finds, by its id. */
export function statusesOf(evidence: Evidence): { readonly [check: string]: CheckStatus } {
  return Object.fromEntries(
    scoreEvidence(evidence).checks.map(({ check, finding }) => [check.id, finding.status]),
  );
}

/** Scans a service that was started with these changes. */
export async function scanService(
  { origin, requests, connect: dial }: ReturnType<typeof startMadeUpService>,
  { unresolved = false, unknownAuthority = false, answerMs }: ServiceChanges,
  asked: {
    readonly resources?: readonly string[];
    readonly isOwner?: boolean;
    readonly known?: readonly Resource[];
  } = {},
): Promise<Evidence | null> {
  requests.length = 0;
  const lookUp = async () =>
    unresolved
      ? ({ ok: false, reason: "dns_not_found" } as const)
      : ({ ok: true, addresses: ["127.0.0.1"] } as const);
  const ca = unknownAuthority ? {} : { ca: await Bun.file(AUTHORITY_FILE).text() };
  const speed = answerMs === undefined ? 1 : SPEED;
  const clock = { now: systemClock.now, monotonic: () => systemClock.monotonic() * speed };
  const evidence = await probeOrigin(
    {
      client: createHttpClient({ lookUp, clock, ...ca, connect: dial }, { allowPrivate: true }),
      clock,
      lookUp: createDnsEvidence(lookUp),
      step: atOnce,
      randomName: () => "nothing-is-here",
    },
    { origin, resources: [], isOwner: false, known: [], ...asked, startedMs: clock.monotonic() },
  );
  if (requests.length > 26) throw new Error(`${requests.length} requests are more than a scan may send`);
  const odd = requests.find((request) => !/^(GET|HEAD|POST) /.test(request));
  if (odd !== undefined) throw new Error(`a scan sent ${odd}`);
  return evidence;
}
