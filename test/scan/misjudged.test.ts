import { describe, expect, test } from "bun:test";
import type { CheckStatus } from "../../src/scan/check.ts";
import { scannedListing } from "../../src/scan/scanned-listing.ts";
import { type Grade, scoreEvidence } from "../../src/scan/score.ts";
import {
  and,
  BASE_PAYEE,
  changed,
  good,
  json,
  noOpenApi,
  only,
  PAID,
  PAYS,
  redirect,
  SOLANA,
  SOLANA_PAYEE,
  status,
  version1,
} from "./made-up-answers.ts";
import { openApi, type ServiceChanges, scan, statusesOf } from "./made-up-service.ts";

const VERSION_2 = {
  x402Version: 2,
  accepts: [{ ...PAYS, scheme: "exact", network: "eip155:8453", amount: "10000" }],
};

/** Services that are easily taken for better or for worse than they are. */

type Row = readonly [
  guarantee: string,
  changes: ServiceChanges,
  statuses: { readonly [check: string]: CheckStatus },
  grade?: Grade,
];

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
          VERSION_2,
        ),
      },
    },
    { "pay.parse": "fail" },
    "D",
  ],
  [
    "a body whose price stands beside an amount that no client of its version reads",
    {
      answers: {
        "/v1/paid": version1({ ...PAYS, network: "base", amount: "10000", maxAmountRequired: "2000000000" }),
      },
    },
    { "pay.price": "fail" },
    "D",
  ],
  [
    "the same beside a header",
    {
      answers: {
        "/v1/paid": version1(
          { ...PAYS, network: "base", amount: "10000", maxAmountRequired: "9000000" },
          VERSION_2,
        ),
      },
    },
    { "pay.parse": "fail" },
    "D",
  ],
  [
    "a payee in a field that clients written in Go read",
    { challenge: changed({ PayTo: `0x${"12".repeat(20)}` }) },
    { "pay.parse": "fail" },
    "D",
  ],
  [
    "a list of ways to pay that clients written in Go read, in the body",
    {
      answers: {
        "/v1/paid": () =>
          Response.json(
            { x402Version: 1, Accepts: [{ ...PAYS, payTo: `0x${"12".repeat(20)}`, network: "base" }] },
            { status: 402, headers: { "PAYMENT-REQUIRED": btoa(JSON.stringify(VERSION_2)) } },
          ),
      },
    },
    { "pay.parse": "fail" },
    "D",
  ],
  [
    "a body that is longer than what is read of it",
    {
      answers: {
        "/v1/paid": version1(
          { ...PAYS, network: "base", maxAmountRequired: "9000000", note: "x".repeat(300_000) },
          VERSION_2,
        ),
      },
    },
    { "pay.parse": "fail" },
    "D",
  ],
  [
    "a way to pay behind fifty others",
    {
      challenge: (it) => ({ ...it, accepts: Array.from({ length: 51 }, () => (it.accepts as object[])[0]) }),
    },
    { "pay.parse": "fail" },
    "D",
  ],
  [
    "another payee on the same network, behind many ways to pay",
    {
      challenge: (it) => {
        const [way] = it.accepts as readonly object[];
        const other = { ...way, payTo: `0x${"12".repeat(20)}` };
        return { ...it, accepts: [...Array.from({ length: 40 }, () => way), other] };
      },
    },
    { "pay.payee": "warn" },
  ],
  [
    "a payee whose key nobody has, behind many ways to pay",
    {
      challenge: (it) => {
        const [way] = it.accepts as readonly object[];
        const nobody = { ...way, payTo: `0x${"0".repeat(40)}` };
        return { ...it, accepts: [...Array.from({ length: 20 }, () => way), nobody] };
      },
    },
    { "pay.payee": "fail" },
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

test("the listing of a scanned host counts the price of a token by its own decimals", async () => {
  const priceOf = async (change: object) => {
    const evidence = await scan({ challenge: changed(change) });
    return scannedListing(evidence, scoreEvidence(evidence), "https://judge.example")?.evidence.price_usd;
  };
  const megaUsd = { network: "eip155:4326", asset: "0xFAfDdbb3FC7688494971a79cc65DCa3EF82079E7" };
  expect(await priceOf({ amount: "10000" })).toBe("0.010000");
  expect(await priceOf({ ...megaUsd, amount: "900000000000000" })).toBe("0.000900");
  expect(await priceOf({ ...megaUsd, amount: "10000000000000000" })).toBe("0.010000");
  expect(await priceOf({ amount: "1000000000000000" })).toBeNull();
});
