import { describe, expect, test } from "bun:test";
import { isDisallowed, robotsRules } from "../../src/net/robots.ts";
import type { CheckStatus } from "../../src/scan/check.ts";
import { CHECKS } from "../../src/scan/check-list.ts";
import type { Evidence } from "../../src/scan/evidence.ts";
import { scanView } from "../../src/scan/report.ts";
import { type Grade, scoreEvidence } from "../../src/scan/score.ts";
import { changed } from "./made-up-answers.ts";
import {
  challengeReply,
  openApi,
  type ServiceChanges,
  scan,
  scanMadeUp,
  scanService,
  startMadeUpService,
  statusesOf,
} from "./made-up-service.ts";

/** Each check, against a local server without a fault and one with its fault. */

type Row = readonly [
  check: string,
  fault: string,
  status: CheckStatus,
  changes: ServiceChanges,
  atMost?: Grade,
];

const html = () =>
  new Response("<!doctype html><h1>Hello</h1>", { headers: { "Content-Type": "text/html" } });
const at = (path: string, answer: () => Response): ServiceChanges => ({ answers: { [path]: answer } });
const status = (code: number) => () => Response.json({}, { status: code });

const ROWS: readonly Row[] = [
  ["reach.dns", "no address", "fail", { unresolved: true }, "F"],
  ["reach.tls", "an expired certificate", "fail", { certificate: "expired" }, "F"],
  ["reach.tls", "an authority that nobody knows", "fail", { unknownAuthority: true }, "F"],
  [
    "reach.https",
    "a redirect to https",
    "pass",
    { plain: (_request, origin) => new Response(null, { status: 308, headers: { Location: `${origin}/` } }) },
  ],
  ["reach.https", "content in clear", "fail", { plain: () => new Response("hello") }],
  [
    "reach.https",
    "a redirect for now",
    "warn",
    { plain: (_request, origin) => new Response(null, { status: 302, headers: { Location: `${origin}/` } }) },
  ],
  ["reach.latency", "3 s for each answer", "fail", { answerMs: 3000 }],
  ["reach.headers", "no HSTS", "warn", { headers: { "Strict-Transport-Security": null } }],
  [
    "reach.headers",
    "a short HSTS and no nosniff",
    "fail",
    {
      headers: { "Strict-Transport-Security": "max-age=60", "X-Content-Type-Options": null },
    },
  ],
  ["pay.402", "200 without a payment", "fail", at("/v1/paid", () => Response.json({})), "F"],
  [
    "pay.402",
    "402 by POST alone",
    "warn",
    {
      answers: {
        "/v1/paid": ({ method }, origin) =>
          method === "POST"
            ? challengeReply({ x402Version: 2, resource: { url: origin }, accepts: [] })
            : status(404)(),
      },
    },
  ],
  [
    "pay.parse",
    "a header that cannot be decoded",
    "fail",
    at("/v1/paid", () => Response.json({}, { status: 402, headers: { "PAYMENT-REQUIRED": "%%%" } })),
    "D",
  ],
  [
    "pay.parse",
    "version 1 alone",
    "warn",
    at("/v1/paid", () => Response.json({ x402Version: 1, accepts: [{}] }, { status: 402 })),
  ],
  ["pay.schema", "no way to pay", "fail", { challenge: (it) => ({ ...it, accepts: [] }) }, "D"],
  ["pay.schema", "no payee", "fail", { challenge: changed({ payTo: undefined }) }, "D"],
  ["pay.network", "a test network alone", "fail", { challenge: changed({ network: "eip155:84532" }) }],
  ["pay.network", "a name of version 1", "warn", { challenge: changed({ network: "base" }) }],
  [
    "pay.asset",
    "a wrong EIP-712 domain",
    "fail",
    { challenge: changed({ extra: { name: "USDC", version: "2" } }) },
  ],
  [
    "pay.asset",
    "a token that nobody knows",
    "fail",
    { challenge: changed({ asset: `0x${"ab".repeat(20)}` }) },
  ],
  [
    "pay.asset",
    "another known token",
    "warn",
    {
      challenge: changed({
        asset: "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42",
        extra: { name: "EURC", version: "2" },
      }),
    },
  ],
  ["pay.payee", "the zero address", "fail", { challenge: changed({ payTo: `0x${"0".repeat(40)}` }) }, "D"],
  ["pay.price", "decimal dollars", "fail", { challenge: changed({ amount: "0.01" }) }, "D"],
  ["pay.price", "another price than listed", "warn", { challenge: changed({ amount: "20000" }) }],
  ["pay.price", "a decoy", "fail", { challenge: changed({ amount: "2000000000" }) }, "D"],
  [
    "pay.binding",
    "another host",
    "fail",
    {
      challenge: (it) => ({ ...it, resource: { ...it.resource, url: "https://other.example/v1/paid" } }),
    },
  ],
  ["pay.binding", "a time-out of a day", "warn", { challenge: changed({ maxTimeoutSeconds: 86_400 }) }],
  [
    "pay.first",
    "validation before the challenge",
    "warn",
    {
      answers: {
        "/openapi.json": () =>
          Response.json({
            openapi: "3.1.0",
            paths: {
              "/v1/paid": {
                post: {
                  "x-payment-info": {},
                  responses: { 402: {} },
                },
              },
            },
          }),
        "/v1/paid": status(422),
      },
    },
  ],
  [
    "pay.first",
    "a leak by POST",
    "fail",
    {
      answers: {
        "/v1/paid": ({ method }, origin) =>
          method === "POST"
            ? Response.json({ free: true })
            : challengeReply({ x402Version: 2, resource: { url: origin }, accepts: [] }),
      },
    },
    "C",
  ],
  ["pay.wildcard", "402 to everything", "fail", at("*", status(402)), "C"],
  ["pay.wildcard", "a page for everything", "fail", at("*", html), "C"],
  [
    "pay.headersize",
    "a challenge that may be cached",
    "warn",
    {
      answers: {
        "/v1/paid": (_request, origin) => {
          const reply = challengeReply({
            x402Version: 2,
            resource: { url: `${origin}/v1/paid` },
            accepts: [{}],
          });
          reply.headers.set("Cache-Control", "public");
          return reply;
        },
      },
    },
  ],
  [
    "pay.headersize",
    "a challenge of 20 KB",
    "fail",
    {
      challenge: (it) => ({ ...it, extensions: { bazaar: { info: { text: "x".repeat(20_000) } } } }),
    },
  ],
  ["disc.wellknown", "no manifest", "fail", at("/.well-known/x402", status(404))],
  [
    "disc.wellknown",
    "resources of another domain",
    "fail",
    at("/.well-known/x402", () => Response.json({ resources: ["https://other.example/paid"] })),
  ],
  ["disc.openapi", "no document", "fail", at("/openapi.json", status(404))],
  [
    "disc.openapi",
    "a paid operation without a 402",
    "warn",
    at("/openapi.json", () => Response.json(openApi({ "x-payment-info": {}, responses: {} }))),
  ],
  ["disc.bazaar", "no description", "fail", { challenge: (it) => ({ ...it, extensions: {} }) }],
  [
    "disc.bazaar",
    "info without schema",
    "warn",
    {
      challenge: (it) => ({ ...it, extensions: { bazaar: { info: it.extensions.bazaar.info } } }),
    },
  ],
  ["disc.llms", "HTML", "fail", at("/llms.txt", html)],
  ["disc.llms", "no links", "warn", at("/llms.txt", () => new Response("# A service"))],
  ["disc.agent", "none", "fail", at("/.well-known/api-catalog", status(404))],
  [
    "disc.agent",
    "JSON as text",
    "warn",
    at("/.well-known/api-catalog", () => new Response("{}", { headers: { "Content-Type": "text/plain" } })),
  ],
  ["http.errors", "HTML", "fail", at("*", () => new Response("<h1>Not found</h1>", { status: 404 }))],
  [
    "http.errors",
    "JSON of another shape",
    "warn",
    at("*", () => Response.json({ oops: 1 }, { status: 404 })),
  ],
  [
    "http.semantics",
    "HEAD breaks",
    "fail",
    {
      answers: {
        "/v1/paid": ({ method }) =>
          method === "HEAD" ? status(500)() : challengeReply({ x402Version: 2, accepts: [] }),
      },
    },
  ],
  [
    "http.semantics",
    "HEAD is free",
    "fail",
    {
      answers: {
        "/v1/paid": ({ method }) =>
          method === "HEAD" ? status(200)() : challengeReply({ x402Version: 2, accepts: [] }),
      },
    },
  ],
  ["http.cors", "no origin allowed", "fail", { headers: { "Access-Control-Allow-Origin": null } }],
  ["http.cors", "nothing exposed", "warn", { headers: { "Access-Control-Expose-Headers": null } }],
  [
    "ops.signals",
    "nothing there",
    "fail",
    {
      answers: {
        "/robots.txt": status(404),
        "/health": status(404),
        "/.well-known/security.txt": status(404),
      },
    },
  ],
  [
    "ops.signals",
    "robots.txt alone",
    "warn",
    {
      answers: { "/health": status(404), "/.well-known/security.txt": status(404) },
    },
  ],
];

describe("the 25 checks", () => {
  test("a service without a fault passes each of them and has grade A", async () => {
    const evidence = await scan({});
    const { "reach.https": https, ...others } = statusesOf(evidence);
    expect(https).toBe("na");
    expect(Object.entries(others).filter(([, found]) => found !== "pass")).toEqual([]);
    expect(scoreEvidence(evidence)).toMatchObject({ score: 100, grade: "A", caps: [], confidence: "normal" });
  });

  for (const [check, fault, expected, changes, atMost = "A"] of ROWS) {
    test(`${check}: ${fault}`, async () => {
      const evidence = await scan(changes);
      expect(statusesOf(evidence)[check]).toBe(expected);
      expect(scoreEvidence(evidence).grade >= atMost).toBe(true);
    });
  }

  test("plain http must lead to https on the same host", async () => {
    const evidence = await scan({});
    const plain = (code: number | null, location: string): Evidence => ({
      ...evidence,
      exchanges: [
        ...evidence.exchanges,
        {
          ...{ role: "plain_http", method: "GET", url: "http://good.example/", ms: 1, body: "" },
          status: code,
          failure: code === null ? "connect_failed" : null,
          headers: { location },
        },
      ],
    });
    const of = (code: number | null, location = "") => statusesOf(plain(code, location))["reach.https"];
    expect([of(null), of(308, "https://good.example/"), of(302, "https://good.example/")]).toEqual([
      "pass",
      "pass",
      "warn",
    ]);
    expect([of(200), of(301, "https://other.example/"), of(301, "http://good.example/x")]).toEqual([
      "fail",
      "fail",
      "fail",
    ]);
  });

  test("a median of 800 ms is quick, one of 2.5 s is not", async () => {
    const evidence = await scan({});
    const of = (ms: number) =>
      statusesOf({ ...evidence, exchanges: evidence.exchanges.map((each) => ({ ...each, ms })) })[
        "reach.latency"
      ];
    expect([of(800), of(801), of(2500), of(2501)]).toEqual(["pass", "warn", "warn", "fail"]);
  });

  test("certificates are good for more than 14 days, and bad from 3 days on", async () => {
    const evidence = await scan({});
    const of = (days: number) => {
      const validTo = evidence.scannedAt + days * 86_400_000 + 1000;
      return statusesOf({ ...evidence, tls: { isValid: true, error: null, protocol: "TLSv1.3", validTo } })[
        "reach.tls"
      ];
    };
    expect([of(15), of(14), of(4), of(3)]).toEqual(["pass", "warn", "warn", "fail"]);
  });

  test("each has a server that fails it", () => {
    const failed = new Set(ROWS.flatMap(([check, , expected]) => (expected === "fail" ? [check] : [])));
    expect(CHECKS.map(({ id }) => id).filter((id) => !failed.has(id))).toEqual([]);
  });

  test("there are 25, and their weights add up to 100", () => {
    expect(new Set(CHECKS.map(({ id }) => id)).size).toBe(25);
    expect(CHECKS.reduce((sum, { weight }) => sum + weight, 0)).toBe(100);
  });
});

test("the score comes again from the stored evidence, and a report names a command for each check", async () => {
  const evidence = await scan({ challenge: changed({ amount: "0.01" }) });
  const stored = JSON.parse(JSON.stringify(evidence)) as Evidence;
  const view = scanView(evidence, scoreEvidence(evidence));
  expect(scanView(stored, scoreEvidence(stored))).toEqual(view);
  expect(view.checks.filter(({ repeat, fix }) => repeat === "" || fix === "")).toEqual([]);
});

test("two scans of one origin are equal but for their times", async () => {
  const changes: ServiceChanges = {
    challenge: changed({ amount: "0.01" }),
    headers: { "Strict-Transport-Security": null },
  };
  using service = startMadeUpService(changes);
  const [first, second] = [await scanService(service, changes), await scanService(service, changes)];
  if (first === null || second === null) throw new Error("kept out");
  expect(withoutTimes(second)).toEqual(withoutTimes(first));
  expect(scoreEvidence(second).score).toBe(scoreEvidence(first).score);
});

/** What the report says, without the time of the scan, what each answer took, and the dates that servers send. */
function withoutTimes(evidence: Evidence) {
  const { scanned_at: _, checks, ...rest } = scanView(evidence, scoreEvidence(evidence));
  const timeless = checks.map(({ evidence: { ms: _ms, headers, observed, ...seen }, id, ...check }) => ({
    ...{ ...check, id, seen },
    observed: id === "reach.latency" ? "" : observed,
    headers: Object.entries(headers ?? {}).filter(([name]) => name !== "date"),
  }));
  return { ...rest, checks: timeless };
}

test("a target that refuses every call is blocked, with low confidence", async () => {
  const evidence = await scan({
    answers: Object.fromEntries(
      [
        "/",
        "/robots.txt",
        "/llms.txt",
        "/openapi.json",
        "/.well-known/x402",
        "/.well-known/api-catalog",
        "/.well-known/security.txt",
        "/health",
        "/v1/paid",
        "*",
      ].map((path) => [path, status(403)]),
    ),
  });
  expect(scoreEvidence(evidence).confidence).toBe("low");
  expect(statusesOf(evidence)["pay.402"]).toBe("blocked");
});

test("robots.txt that names this agent keeps it out", async () => {
  expect(
    await scanMadeUp(at("/robots.txt", () => new Response("User-agent: assay-scan\nDisallow: /\n"))),
  ).toBeNull();
  expect(isDisallowed(robotsRules("User-agent: other\nDisallow: /\n", "assay-scan"), "/")).toBe(false);
  expect(isDisallowed(robotsRules("User-agent: *\nDisallow: /\nAllow: /\n", "*"), "/")).toBe(false);
  const keepsOut = (rule: string, path = "/") =>
    isDisallowed(robotsRules(`User-agent: a\nDisallow: ${rule}\n`, "a"), path);
  expect(["/*", "*", "/$", "/*$"].filter((rule) => !keepsOut(rule))).toEqual([]);
  expect(["/*/", "/paid", "/?", "*a", "$"].filter((rule) => keepsOut(rule))).toEqual([]);
  expect([keepsOut("/*.md$", "/a.md.md"), keepsOut("/*aa$", "/aaa"), keepsOut("/*.md$", "/a.mdx")]).toEqual([
    ...[true, true, false],
  ]);
});
