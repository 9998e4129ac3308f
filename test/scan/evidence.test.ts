import { expect, test } from "bun:test";
import { createAddressLookup } from "../../src/net/address-lookup.ts";
import { basePathOf } from "../../src/scan/checks/disc-openapi.ts";
import { createDnsEvidence } from "../../src/scan/dns-evidence.ts";
import type { Exchange } from "../../src/scan/evidence.ts";
import { schemaFault } from "../../src/scan/json-schema.ts";
import { scanView } from "../../src/scan/report.ts";
import { listedHost } from "../../src/scan/scanned-listing.ts";
import { scoreEvidence } from "../../src/scan/score.ts";
import { status } from "./made-up-answers.ts";
import { scan, statusesOf } from "./made-up-service.ts";

/** What is found in evidence that a made-up service cannot make, or made on purpose. */

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

test("a scan over plain http, or of another port, does not touch the listing of its host", () => {
  const hostOf = (origin: string, anyPort = false) => listedHost({ origin }, { anyPort });
  expect(hostOf("https://good.example")).toBe("good.example");
  for (const port of [80, 8080, 8443]) {
    expect([port, hostOf(`https://good.example:${port}`)]).toEqual([port, null]);
  }
  expect([hostOf("http://good.example"), hostOf("http://good.example:443")]).toEqual([null, null]);
  // In an operator's own network services have any port.
  expect(hostOf("https://good.example:8443", true)).toBe("good.example");
  expect(hostOf("http://good.example:8443", true)).toBeNull();
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

test("the base path of a server ends before its final slashes, however many, and a server of 2,048 characters counts", () => {
  const origin = "https://good.example";
  const basePath = (...urls: readonly string[]) =>
    basePathOf({ servers: urls.map((url) => ({ url })) }, origin);
  expect(["/v1", "/v1/", "v1//", "/", "//", "https://good.example"].map((url) => basePath(url))).toEqual([
    ...["/v1", "/v1", "/v1"],
    ...["", "", ""],
  ]);
  const startedMs = performance.now();
  expect(basePath(`${origin}${"/".repeat(260_000)}x`, "/v2")).toBe("/v2");
  expect(performance.now() - startedMs).toBeLessThan(500);
  expect([basePath("/v".padEnd(2048, "/")), basePath("/v".padEnd(2049, "/"))]).toEqual(["/v", ""]);
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
