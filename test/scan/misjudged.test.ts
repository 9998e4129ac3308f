import { describe, expect, test } from "bun:test";
import { createAddressLookup } from "../../src/net/address-lookup.ts";
import type { CheckStatus } from "../../src/scan/check.ts";
import { createDnsEvidence } from "../../src/scan/dns-evidence.ts";
import type { Evidence, Exchange } from "../../src/scan/evidence.ts";
import { schemaFault } from "../../src/scan/json-schema.ts";
import { scanView } from "../../src/scan/report.ts";
import { listedHost } from "../../src/scan/scanned-listing.ts";
import { type Grade, scoreEvidence } from "../../src/scan/score.ts";
import {
  type Answer,
  type Challenge,
  challengeReply,
  openApi,
  type ServiceChanges,
  scanMadeUp,
  scanService,
  startMadeUpService,
} from "./made-up-service.ts";

/** Services that are easily taken for better or for worse than they are. */

type Row = readonly [
  guarantee: string,
  changes: ServiceChanges,
  statuses: { readonly [check: string]: CheckStatus },
  grade?: Grade,
];

type Entry = Challenge["accepts"][number];

const BASE_PAYEE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const SOLANA_PAYEE = "2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4";
const SOLANA = {
  network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  asset: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  payTo: SOLANA_PAYEE,
  extra: { feePayer: "EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd" },
};

const changed = (change: object) => (it: Challenge) => ({
  ...it,
  accepts: it.accepts.map((entry) => ({ ...entry, ...change })),
});
const and = (more: object) => (it: Challenge) => ({
  ...it,
  accepts: [...it.accepts, { ...(it.accepts[0] as Entry), ...more }],
});
const status = (code: number) => Response.json({}, { status: code });
const redirect = (location: string, code = 307) =>
  new Response(null, { status: code, headers: { Location: location } });
const good = async (origin: string, path: string, change: object = {}) => {
  const it = {
    x402Version: 2,
    resource: { url: `${origin}${path}` },
    accepts: [
      {
        scheme: "exact",
        network: "eip155:8453",
        amount: "10000",
        asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        payTo: BASE_PAYEE,
        maxTimeoutSeconds: 60,
        extra: { name: "USD Coin", version: "2" },
        ...change,
      },
    ],
    extensions: { bazaar: { info: { input: {} }, schema: { required: ["input"] } } },
  };
  return challengeReply(it);
};
const only =
  (method: string, path: string): Answer =>
  (request, origin) =>
    request.method === method ? good(origin, path) : status(405);
const MARK = { price: { mode: "fixed", currency: "USD", amount: "0.01" } };
const PAID = { "x-payment-info": MARK, responses: { 402: {} } };
const json =
  (value: unknown): Answer =>
  () =>
    Response.json(value);
const noOpenApi: Answer = () => status(404);
const version1 = (entry: object, header?: object) => () => {
  const whole = { resource: "https://good.example/v1/paid", description: "", maxTimeoutSeconds: 60 };
  const body = { x402Version: 1, accepts: [{ scheme: "exact", ...whole, ...entry }] };
  const headers = header === undefined ? {} : { "PAYMENT-REQUIRED": btoa(JSON.stringify(header)) };
  return Response.json(body, { status: 402, headers });
};
const PAYS = {
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  payTo: BASE_PAYEE,
  extra: { name: "USD Coin", version: "2" },
};

const GOOD: readonly Row[] = [
  [
    "a manifest that names POST beside the address is asked by POST",
    {
      answers: {
        "/openapi.json": noOpenApi,
        "/.well-known/x402": (_request, origin) =>
          Response.json({ version: 1, resources: [`POST ${origin}/v1/paid`] }),
        "/v1/paid": only("POST", "/v1/paid"),
      },
    },
    { "pay.402": "pass", "pay.first": "pass", "disc.wellknown": "pass" },
  ],
  [
    "paths of an OpenAPI document stand behind the path of its server",
    {
      answers: {
        "/openapi.json": (_request, origin) =>
          Response.json({
            openapi: "3.1.0",
            servers: [{ url: `${origin}/api/` }],
            paths: { "/paid": { get: PAID } },
          }),
        "/.well-known/x402": () => status(404),
        "/api/paid": (_request, origin) => good(origin, "/api/paid"),
      },
    },
    { "pay.402": "pass", "pay.price": "pass", "disc.openapi": "pass" },
    "A",
  ],
  [
    "an operation that is paid by 402 alone is found",
    {
      answers: {
        "/openapi.json": json(openApi({ responses: { 402: {} } })),
        "/.well-known/x402": () => status(404),
      },
    },
    { "pay.402": "pass", "disc.openapi": "warn" },
    "A",
  ],
  [
    "an operation by a method that no scan sends does not stand for the one beside it",
    {
      answers: {
        "/openapi.json": json({ openapi: "3.1.0", paths: { "/v1/paid": { post: PAID, delete: PAID } } }),
        "/.well-known/x402": () => status(404),
        "/v1/paid": only("POST", "/v1/paid"),
      },
    },
    { "pay.402": "pass" },
    "A",
  ],
  [
    "a redirect to the slash behind a path is followed",
    {
      answers: {
        "/v1/paid": () => redirect("/v1/paid/", 308),
        "/v1/paid/": (_request, origin) => good(origin, "/v1/paid/"),
        "/health": () => redirect("/healthz", 301),
        "/healthz": json({}),
        "/nothing-is-here": () => redirect("/nothing-is-here/", 308),
      },
    },
    { "pay.402": "pass", "pay.binding": "pass", "pay.wildcard": "pass", "http.semantics": "pass" },
    "A",
  ],
  [
    "descriptions at the other well-known places are found",
    {
      answers: {
        "/openapi.json": () => status(404),
        "/.well-known/openapi.json": json(openApi(PAID)),
        "/.well-known/x402": () => status(404),
        "/.well-known/x402.json": (_request, origin) =>
          Response.json({ items: [{ resource: `${origin}/v1/paid`, method: "GET" }] }),
      },
    },
    { "pay.402": "pass", "disc.openapi": "pass", "disc.wellknown": "pass" },
    "A",
  ],
  [
    "a header that the proxy sets once more says the same",
    { headers: { "X-Content-Type-Options": "nosniff, nosniff" } },
    { "reach.headers": "pass" },
  ],
  [
    "one payee in two spellings is one payee",
    { challenge: and({ payTo: BASE_PAYEE.toLowerCase() }) },
    { "pay.payee": "pass" },
    "A",
  ],
  [
    "USDC of another main network, and a network whose addresses are not known here",
    {
      challenge: and({
        ...{ network: "eip155:137", asset: "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359" },
      }),
    },
    { "pay.asset": "pass", "pay.network": "pass", "pay.price": "pass", "pay.payee": "pass" },
    "A",
  ],
  [
    "an address of a network that is not known here is no fault of the payee",
    {
      challenge: and({ network: "stellar:pubnet", payTo: `G${"A".repeat(55)}`, asset: `C${"A".repeat(55)}` }),
    },
    { "pay.payee": "pass", "pay.network": "pass", "pay.asset": "warn" },
    "A",
  ],
  [
    "an amount of a token with 18 decimals is no decoy",
    {
      challenge: and({
        network: "eip155:4326",
        asset: "0xFAfDdbb3FC7688494971a79cc65DCa3EF82079E7",
        amount: "10000000000000000",
        extra: { assetTransferMethod: "permit2" },
      }),
    },
    { "pay.price": "pass", "pay.asset": "pass" },
    "A",
  ],
  [
    "nobody knows what a token of an unknown network is worth",
    {
      challenge: and({ network: "eip155:56", asset: `0x${"cd".repeat(20)}`, amount: "10000000000000000" }),
    },
    { "pay.price": "warn" },
    "A",
  ],
  [
    "names of version 1 are known",
    { answers: { "/v1/paid": version1({ ...PAYS, network: "polygon", maxAmountRequired: "10000" }) } },
    { "pay.network": "warn", "pay.schema": "pass" },
  ],
  [
    "a challenge that names no resource is bound to none, and to no other",
    { challenge: ({ resource: _, ...it }) => it },
    { "pay.binding": "warn" },
  ],
  [
    "a route that takes no POST has nothing to challenge before",
    {
      answers: {
        "/v1/paid": (request, origin) => (request.method === "POST" ? status(405) : good(origin, "/v1/paid")),
      },
    },
    { "pay.first": "na", "pay.402": "pass" },
    "A",
  ],
  [
    "a byte order mark is no part of a text",
    {
      answers: {
        "/llms.txt": () => new Response("\uFEFF# A service\n\nhttps://good.example/docs\n"),
        "/openapi.json": () => new Response(`\uFEFF${JSON.stringify(openApi(PAID))}`),
      },
    },
    { "disc.llms": "pass", "disc.openapi": "pass" },
  ],
];

const BAD: readonly Row[] = [
  [
    "a body that names another payee than the header",
    {
      answers: {
        "/v1/paid": version1(
          { ...PAYS, network: "base", maxAmountRequired: "10000", payTo: `0x${"12".repeat(20)}` },
          {
            x402Version: 2,
            accepts: [{ ...PAYS, scheme: "exact", network: "eip155:8453", amount: "10000" }],
          },
        ),
      },
    },
    { "pay.parse": "fail" },
    "D",
  ],
  [
    "version 2 with the amount of version 1 cannot be paid",
    { challenge: changed({ amount: undefined, maxAmountRequired: "10000" }) },
    { "pay.schema": "fail" },
    "D",
  ],
  [
    "without a time-out clients sign for no time at all",
    { challenge: changed({ maxTimeoutSeconds: undefined }) },
    { "pay.schema": "fail", "pay.binding": "warn" },
    "D",
  ],
  [
    "an EVM address on Solana",
    { challenge: and({ ...SOLANA, payTo: BASE_PAYEE }) },
    { "pay.payee": "fail" },
    "D",
  ],
  [
    "a Solana address by the name of version 1 of Base",
    { challenge: and({ network: "base", payTo: SOLANA_PAYEE }) },
    { "pay.payee": "fail" },
    "D",
  ],
  [
    "a payee with a mistyped letter",
    { challenge: changed({ payTo: BASE_PAYEE.replace("C5", "c5") }) },
    { "pay.payee": "fail" },
    "D",
  ],
  [
    "the system program of Solana has no owner",
    { challenge: and({ ...SOLANA, payTo: "1".repeat(32) }) },
    { "pay.payee": "fail" },
    "D",
  ],
  [
    "a second resource that nobody can pay",
    {
      answers: {
        "/.well-known/x402": (_request, origin) =>
          Response.json({ resources: [`${origin}/v1/paid`, `${origin}/v1/other`] }),
        "/v1/other": () =>
          good("https://elsewhere.example", "/v1/other", { extra: { name: "USDC", version: "2" } }),
      },
    },
    { "pay.asset": "fail", "pay.binding": "fail" },
  ],
  [
    "an info that its schema does not allow",
    {
      challenge: (it) => ({
        ...it,
        extensions: {
          bazaar: {
            info: { input: { type: "http", method: "GET" } },
            schema: { type: "object", properties: { input: { properties: { method: { enum: ["POST"] } } } } },
          },
        },
      }),
    },
    { "disc.bazaar": "fail" },
  ],
  [
    "an origin that is allowed to others alone",
    { headers: { "Access-Control-Allow-Origin": "https://app.example.org" } },
    { "http.cors": "fail" },
  ],
  [
    "HEAD at another price than GET",
    {
      answers: {
        "/v1/paid": ({ method }, origin) =>
          good(origin, "/v1/paid", method === "HEAD" ? { amount: "20000" } : {}),
      },
    },
    { "http.semantics": "fail" },
  ],
  [
    "robots.txt that disallows the paid paths",
    {
      answers: {
        "/robots.txt": () => new Response("User-agent: *\nDisallow: /v1/\n"),
        "/.well-known/security.txt": () => status(404),
      },
    },
    { "ops.signals": "warn" },
  ],
];

async function scan(changes: ServiceChanges): Promise<Evidence> {
  const evidence = await scanMadeUp(changes);
  if (evidence === null) throw new Error("kept out");
  return evidence;
}

const statusesOf = (evidence: Evidence) =>
  Object.fromEntries(scoreEvidence(evidence).checks.map(({ check, finding }) => [check.id, finding.status]));

for (const [title, rows] of [
  ["good services are not taken for bad ones", GOOD],
  ["bad services are not taken for good ones", BAD],
] as const) {
  describe(title, () => {
    for (const [guarantee, changes, statuses, grade] of rows) {
      test(guarantee, async () => {
        const evidence = await scan(changes);
        expect(statusesOf(evidence)).toMatchObject(statuses);
        if (grade !== undefined) expect(scoreEvidence(evidence).grade).toBe(grade);
      });
    }
  });
}

describe("what is known from before", () => {
  test("a payee that changed is seen on a resource that the service names itself", async () => {
    const before = await scan({});
    using service = startMadeUpService({ challenge: changed({ payTo: `0x${"12".repeat(20)}` }) });
    const known = before.resources.map((resource) => ({
      ...resource,
      ...{ url: `${service.origin}/v1/paid`, source: "directory" as const, knownPayees: [BASE_PAYEE] },
    }));
    const after = await scanService(service, {}, { known });
    if (after === null) throw new Error("kept out");
    expect(statusesOf(after)["pay.payee"]).toBe("warn");
  });

  test("a payee that changed on one network is seen beside the one that did not", async () => {
    const changes = { challenge: and({ ...SOLANA, payTo: "So11111111111111111111111111111111111111112" }) };
    using service = startMadeUpService(changes);
    const known = [
      {
        ...{ method: "GET", url: `${service.origin}/v1/paid`, source: "directory" as const },
        ...{ listedMicroUsd: null, knownPayees: [BASE_PAYEE, SOLANA_PAYEE] },
      },
    ];
    const after = await scanService(service, changes, { known });
    if (after === null) throw new Error("kept out");
    expect(statusesOf(after)["pay.payee"]).toBe("warn");
  });
});

describe("what a scan sends", () => {
  test("a service that asks to wait for a second is asked again", async () => {
    let calls = 0;
    const evidence = await scan({
      answers: {
        "/v1/paid": (_request, origin) => {
          calls += 1;
          return calls > 1
            ? good(origin, "/v1/paid")
            : Response.json({}, { status: 429, headers: { "Retry-After": "0" } });
        },
      },
    });
    expect(statusesOf(evidence)["pay.402"]).toBe("pass");
  });

  test("what robots.txt keeps this agent from is not asked", async () => {
    const changes = {
      answers: { "/robots.txt": () => new Response("User-agent: assay-scan/1.0\nDisallow: /v1/secret\n") },
    };
    using service = startMadeUpService(changes);
    const resources = [`${service.origin}/v1/secret`];
    const evidence = await scanService(service, changes, { resources });
    expect(service.requests.filter((request) => request.includes("secret"))).toEqual([]);
    expect(evidence?.resources.map(({ url }) => url)).toEqual([`${service.origin}/v1/paid`]);
  });

  test("a redirect to another port or host, or out of TLS, is not followed", async () => {
    let reached = 0;
    using other = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch() {
        reached += 1;
        return Response.json({});
      },
    });
    const places = ["", "https://good.example", "http://good.example", `http://127.0.0.1`].map((place) =>
      place === "" ? other.url.href : `${place}:${other.port}/`,
    );
    const paths = ["/", "/llms.txt", "/health", "/openapi.json"];
    const answers = Object.fromEntries(paths.map((path, n) => [path, () => redirect(places[n] ?? "", 308)]));
    const { exchanges } = await scan({ answers });
    expect(exchanges.filter(({ redirectedTo }) => redirectedTo !== undefined)).toEqual([]);
    expect(reached).toBe(0);
  });

  test("five named resources are asked, and at most 26 requests sent, whatever redirects", async () => {
    const changes = {
      answers: { "*": (request: Request) => redirect(`${new URL(request.url).pathname}x`, 308) },
    };
    using service = startMadeUpService(changes);
    const resources = [1, 2, 3, 4, 5].map((n) => `${service.origin}/v1/paid?n=${n}`);
    const evidence = await scanService(service, changes, { resources });
    expect(
      evidence?.exchanges.filter(({ role, status: code }) => role === "resource" && code === 402).length,
    ).toBe(5);
    expect(service.requests.length).toBeLessThanOrEqual(26);
  });
});

test("two scans of an origin that redirects everything follow the same redirects", async () => {
  const followed = async () => {
    let calls = 0;
    const slash: Answer = async (request) => {
      calls += 1;
      await Bun.sleep((calls * 7) % 5);
      const { pathname } = new URL(request.url);
      return pathname.endsWith("/") && pathname !== "/" ? status(404) : redirect(`${pathname}/`, 308);
    };
    const paths = [
      "/",
      "/llms.txt",
      "/openapi.json",
      "/.well-known/x402",
      "/.well-known/api-catalog",
      "/health",
    ];
    const answers = Object.fromEntries([...paths, "*"].map((path) => [path, slash]));
    const { exchanges } = await scan({ answers });
    return exchanges.map(({ role, url, redirectedTo }) => [
      role,
      ...[url, redirectedTo ?? ""].map((text) => text.replace(/^https:..[^/]*/, "")),
    ]);
  };
  const first = await followed();
  expect(first.filter(([, , to]) => to !== "").length).toBeGreaterThan(3);
  expect(await followed()).toEqual(first);
});

test("a failed lookup of one family of addresses is a warning", async () => {
  const found = { records: ["192.0.2.1"], outcome: "answer" } as const;
  const broken = { records: [], outcome: "error" } as const;
  const resolver = { lookUp: async (_host: string, type: string) => (type === "A" ? found : broken) };
  const lookUp = createAddressLookup(resolver as unknown as Parameters<typeof createAddressLookup>[0]);
  const dns = await createDnsEvidence(lookUp)("good.example");
  expect(dns).toEqual({ ipv4: ["192.0.2.1"], ipv6: [], failure: "dns_failed" });
  expect(statusesOf({ ...(await scan({})), dns })["reach.dns"]).toBe("warn");
});

test("a check that a failed gate blocks counts nothing, and is not one that does not apply", async () => {
  const gone = await scan({ answers: { "/v1/paid": () => status(404) } });
  const { checks, score } = scoreEvidence(gone);
  const parse = checks.find(({ check }) => check.id === "pay.parse")?.finding;
  expect(parse).toMatchObject({ status: "blocked", observed: "no challenge was seen, as pay.402 failed" });
  expect(statusesOf(gone)["reach.https"]).toBe("na");
  expect(score).toBeLessThan(50);
});

test("port 80 that hangs is not taken for a closed one", async () => {
  const evidence = await scan({});
  const plain = (failure: string): Exchange => ({
    ...{ role: "plain_http", method: "GET", url: "http://good.example/", ms: null, body: "" },
    ...{ status: null, failure, headers: {} },
  });
  const of = (failure: string) =>
    statusesOf({ ...evidence, exchanges: [...evidence.exchanges, plain(failure)] })["reach.https"];
  expect([of("connect_failed"), of("head_timeout"), of("dns_not_found")]).toEqual(["pass", "na", "na"]);
});

test("a scan over plain http does not touch the listing of its host", async () => {
  const evidence = await scan({});
  expect(listedHost(evidence)).toBe("good.example");
  expect(listedHost({ ...evidence, origin: "http://good.example" })).toBeNull();
});

test("words of the target do not turn the text around them", async () => {
  const evidence = await scan({ headers: { "X-Content-Type-Options": null, "X-Odd": "a\u00a0b" } });
  const hostile = evidence.exchanges.map((each) => ({
    ...each,
    headers: { ...each.headers, "x-odd": "\u202Egrade F\u2066\u2028" },
  }));
  const view = scanView(
    { ...evidence, exchanges: hostile },
    scoreEvidence({ ...evidence, exchanges: hostile }),
  );
  expect(JSON.stringify(view)).toContain("?grade F??");
  expect(JSON.stringify(view)).not.toMatch(/[\u202e\u2066\u2028]/);
});

test("a schema of the target is looked at in bounded time", () => {
  const wide = Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`k${n}`, n]));
  expect(schemaFault(wide, { additionalProperties: { type: "number" } })).toBeNull();
  expect(schemaFault({ a: [1, "x"] }, { properties: { a: { items: { type: "integer" } } } })).toBe(
    "info.a.1 does not fit type",
  );
  expect(schemaFault({ a: 1 }, { additionalProperties: false })).toBe("info.a is not allowed");
  let deep: object = {};
  for (let n = 0; n < 500; n++) deep = { properties: { a: deep } };
  expect(schemaFault({ a: { a: {} } }, deep)).toBeNull();
});
