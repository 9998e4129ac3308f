import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createPublicKey, verify } from "node:crypto";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import type { ScanReply } from "../../src/contract/specification/directory/scan.ts";
import { startFixtureServer } from "../../src/made-up-dns/server.ts";
import { createAddressLookup, systemAddressLookup } from "../../src/net/address-lookup.ts";
import { type Connect, connect } from "../../src/net/connection.ts";
import { createHttpClient } from "../../src/net/http-client.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { atOnce } from "../../src/platform/steps.ts";
import type { Evidence } from "../../src/scan/evidence.ts";
import { createScan } from "../../src/scan/scans.ts";
import { scoreEvidence } from "../../src/scan/score.ts";
import { canonicalJson } from "../../src/signing/canonical-json.ts";
import type { PublicKey } from "../../src/signing/signing-key.ts";
import { openScans } from "../../src/store/sqlite/side-databases/scans/open-scans.ts";
import { until } from "../support/caller.ts";
import { listing } from "../support/directory.ts";
import { startDns } from "../support/dns-server.ts";
import { jsonOf } from "../support/json.ts";
import { type MadeUpFacilitator, payFor, startMadeUpFacilitator } from "../support/made-up-facilitator.ts";
import { temporaryFolder } from "../support/process.ts";
import { startRawServer } from "../support/raw-server.ts";
import { AUTHORITY_FILE, startMadeUpService } from "./made-up-service.ts";
import { type ScanServer, startScanServer } from "./scan-server.ts";

/** The scanning service as callers meet it: real HTTP, TLS, DNS and SQLite, with a made-up facilitator. */

let facilitator: MadeUpFacilitator;
let dns: Awaited<ReturnType<typeof startFixtureServer>>;
beforeAll(async () => {
  facilitator = startMadeUpFacilitator();
  dns = await startFixtureServer({ zone: "good.example A 127.0.0.1\nrebind.example A 10.0.0.7\n" });
});
afterAll(async () => {
  facilitator[Symbol.dispose]();
  await dns.close();
});

const start = (environment: { readonly [name: string]: string } = {}, patienceMs?: number) =>
  startScanServer({
    facilitatorUrl: facilitator.url,
    environment: { DNS_SERVERS: dns.address, SCAN_CA_FILE: AUTHORITY_FILE, ...environment },
    ...(patienceMs === undefined ? {} : { patienceMs }),
  });
const reportPath = (origin: string) => `/v1/report?origin=${encodeURIComponent(origin)}`;

async function isSigned(server: ScanServer, reply: object & { signature: string }): Promise<boolean> {
  const { keys } = await jsonOf<{ keys: PublicKey[] }>(await server.call("/.well-known/jwks.json"));
  const [header = "", payload = "", signature = ""] = reply.signature.split(".");
  const { signature: _, ...rest } = reply;
  const key = createPublicKey({ key: { ...keys[0] }, format: "jwk" });
  const isVerified = verify(
    null,
    Buffer.from(`${header}.${payload}`),
    key,
    Buffer.from(signature, "base64url"),
  );
  return isVerified && Buffer.from(payload, "base64url").toString() === canonicalJson(rest);
}

test("too many resources are refused with their limit, and free", async () => {
  await using server = await start();
  const resources = Array.from({ length: 6 }, (_, n) => `https://good.example/${n}`);
  const settled = facilitator.settled.size;
  const reply = await fetch(`${server.url}/v1/scan`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ origin: "https://good.example", resources }),
  });
  expect([reply.status, (await jsonOf<{ error: { message: string } }>(reply)).error.message]).toEqual([
    400,
    "resources must be an array of at most 5.",
  ]);
  expect(facilitator.settled.size).toBe(settled);
});

test("a scan is paid once, signed, kept for all, and its score comes again from its evidence", async () => {
  await using server = await start();
  using service = startMadeUpService({});
  const { origin } = service;
  expect((await server.call(reportPath(origin))).status).toBe(404);
  const before = facilitator.settled.size;
  const reply = await server.scan({ origin: origin.toUpperCase().replace("HTTPS", "https") });
  const scan = await jsonOf<ScanReply>(reply);
  expect([reply.status, facilitator.settled.size - before]).toEqual([200, 1]);
  expect(scan).toMatchObject({ origin, grade: "A", score: 100, joined: false, confidence: "normal" });
  expect([
    scan.checks.length,
    new Date(scan.expires_at).getTime() - new Date(scan.scanned_at).getTime(),
  ]).toEqual([25, 86_400_000]);
  expect(await isSigned(server, scan)).toBe(true);
  const cached = await server.call(reportPath(origin));
  expect([cached.status, await cached.json()]).toEqual([200, scan]);
  expect(Number(cached.headers.get("Age"))).toBeLessThan(60);
  const headers = { "If-None-Match": cached.headers.get("ETag") ?? "" };
  expect((await server.call(reportPath(origin), { headers })).status).toBe(304);
  const path = `/v1/report/${scan.report_id}`;
  expect(scan.report_url).toBe(server.url + path);
  expect(await (await server.call(path)).json()).toEqual(scan);
  const evidence = await jsonOf<Evidence>(await server.call(`${path}/evidence`));
  const again = scoreEvidence(evidence);
  expect([again.score, again.grade, again.checks.map(({ finding }) => finding.status)]).toEqual([
    scan.score,
    scan.grade,
    scan.checks.map(({ status }) => status),
  ]);
  expect(server.logged()).toBe("");
});

test("the report is a page too: no script, the target's words as text", async () => {
  await using server = await start();
  const hostile = '<script>alert(1)</script>"><img src=x onerror=alert(1)>';
  using service = startMadeUpService({ headers: { "X-Odd": hostile, "Access-Control-Allow-Origin": null } });
  const { report_id: id, origin } = await jsonOf<ScanReply>(await server.scan({ origin: service.origin }));
  const page = await server.call(`/v1/report/${id}`, { headers: { Accept: "text/html,*/*;q=0.8" } });
  const html = await page.text();
  expect(page.headers.get("Content-Type")).toStartWith("text/html");
  expect(page.headers.get("Content-Security-Policy")).toContain("default-src 'none'");
  expect(html).toContain(origin);
  expect(html.match(/<details/g)).toHaveLength(25);
  expect(html).toContain("Fix first");
  expect(html).not.toMatch(/<script|<img/i);
});

test("calls for one origin share its scan, each pays for it, and the target is asked once", async () => {
  await using server = await start();
  using service = startMadeUpService({});
  const before = facilitator.settled.size;
  const replies = await Promise.all(
    Array.from({ length: 12 }, () => server.scan({ origin: service.origin })),
  );
  const scans = await Promise.all(replies.map((reply) => jsonOf<ScanReply>(reply)));
  expect(replies.map(({ status }) => status)).toEqual(Array(12).fill(200));
  expect(new Set(scans.map(({ report_id: id }) => id)).size).toBe(1);
  expect(scans.filter(({ joined }) => !joined)).toHaveLength(1);
  expect(facilitator.settled.size - before).toBe(12);
  expect(service.requests.length).toBeLessThanOrEqual(26);
  for (const scan of scans.slice(0, 2)) expect(await isSigned(server, scan)).toBe(true);
});

test("a scan that is late is 504 and free; the same payment then gets it, and is charged once", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await using server = await start({}, 300);
  using service = startMadeUpService({
    answers: {
      "/": async () => {
        await promise;
        return new Response("{}");
      },
    },
  });
  const before = facilitator.settled.size;
  const body = JSON.stringify({ origin: service.origin });
  const call = (headers: object) =>
    server.call("/v1/scan", {
      method: "POST",
      body,
      headers: { "Content-Type": "application/json", ...headers },
    });
  const { "PAYMENT-SIGNATURE": signature } = payFor(await call({}));
  const late = await call({ "PAYMENT-SIGNATURE": signature });
  const { error, report_url: url } = await jsonOf<{ error: { code: string }; report_url: string }>(late);
  expect([late.status, error.code, late.headers.get("Retry-After")]).toEqual([504, "processing", "2"]);
  expect(facilitator.settled.size).toBe(before);
  expect([(await fetch(url)).status, (await server.call(reportPath(service.origin))).status]).toEqual([
    202, 202,
  ]);
  resolve();
  let reply = await call({ "PAYMENT-SIGNATURE": signature });
  while (reply.status === 504) reply = await call({ "PAYMENT-SIGNATURE": signature });
  const scan = await jsonOf<ScanReply>(reply);
  expect([reply.status, scan.report_url, facilitator.settled.size]).toEqual([200, url, before + 1]);
  expect((await call({ "PAYMENT-SIGNATURE": signature })).status).toBe(200);
  expect(facilitator.settled.size).toBe(before + 1);
});

test("a broken origin is a result, and one that keeps us out is not scanned and costs nothing", async () => {
  await using server = await start();
  const before = facilitator.settled.size;
  const gone = await jsonOf<ScanReply>(await server.scan({ origin: "https://nowhere.example" }));
  expect([gone.grade, gone.checks.find(({ id }) => id === "reach.dns")?.status]).toEqual(["F", "fail"]);
  expect(facilitator.settled.size).toBe(before + 1);
  using service = startMadeUpService({
    answers: { "/robots.txt": () => new Response("User-agent: assay-scan\nDisallow: /\n") },
  });
  const kept = await server.scan({ origin: service.origin });
  expect([kept.status, service.requests]).toEqual([400, ["GET /robots.txt"]]);
  expect(facilitator.settled.size).toBe(before + 1);
});

const FORMS = await Bun.file(join(import.meta.dir, "private-origins.txt")).text();

test("no spelling of a private address is scanned, asked to be paid, or reached", async () => {
  await using server = await start({ SCAN_ALLOW_PRIVATE: "false" });
  let reached = 0;
  using target = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(`${++reached}`) });
  const forms = FORMS.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  expect(forms.length).toBeGreaterThan(40);
  for (const form of forms) {
    const origin = form.replace("PORT", `${target.port}`);
    const reply = await server.scan({ origin });
    expect([origin, reply.status, reply.headers.get("PAYMENT-REQUIRED")]).toEqual([origin, 400, null]);
    expect([origin, (await server.call(reportPath(origin))).status]).toEqual([origin, 400]);
  }
  const before = facilitator.settled.size;
  const rebound = await server.scan({ origin: "https://rebind.example" });
  expect([rebound.status, reached, facilitator.settled.size]).toEqual([400, 0, before]);
  expect(await rebound.text()).not.toContain("10.0.0.7");
  const foreign = await server.scan({
    origin: "https://good.example",
    resources: ["https://other.example/x"],
  });
  expect(foreign.status).toBe(400);
});

test("a name that turns private once its price was asked is not scanned, and nothing is charged", async () => {
  await using server = await start({ SCAN_ALLOW_PRIVATE: "false" });
  const before = facilitator.settled.size;
  for (const address of ["A 127.0.0.1", "A 169.254.169.254", "AAAA ::1"]) {
    dns.setZone("good.example A 127.0.0.1\nturns.example 0 A 93.184.216.34\n");
    facilitator.setFault((path) => {
      dns.setZone(`good.example A 127.0.0.1\nturns.example 0 ${address}\n`);
      return Response.json(path === "verify" ? { isValid: true } : { kinds: [] });
    });
    const reply = await server.scan({ origin: "https://turns.example" });
    facilitator.setFault(null);
    expect([address, reply.status, await reply.text()]).toEqual([
      address,
      400,
      expect.stringContaining("not public"),
    ]);
  }
  expect(facilitator.settled.size).toBe(before);
});

test("a scan goes where its one look-up led, whatever the DNS says from then on", async () => {
  using target = await startRawServer((socket) =>
    socket.end("HTTP/1.1 404 None\r\nContent-Length: 2\r\n\r\n{}"),
  );
  await using outside = await startDns("turns.example 0 A 93.184.216.34");
  using database = openScans(null, systemClock);
  const dialled: string[] = [];
  const rebinding: Connect = (options) => {
    outside.server.setZone("turns.example 0 A 127.0.0.1");
    dialled.push(`${options.address} ${options.port}`);
    return connect({ ...options, address: "127.0.0.1", port: target.port });
  };
  const scan = createScan(
    {
      ...{ store: database.scans, clock: systemClock, lookUp: createAddressLookup(outside.resolver) },
      clientOf: (lookUp) => createHttpClient({ lookUp, clock: systemClock, connect: rebinding }, {}),
      signingKey: { sign: () => "" },
      randomName: () => "nowhere",
      step: atOnce,
      onScanned: () => {},
    },
    { allowPrivate: false },
  );
  const request = { origin: "http://turns.example", resources: [], reportUrl: "" };
  expect((await scan("rep_1", request)).kind).toBe("scanned");
  expect(dialled.length).toBeGreaterThan(9);
  expect([new Set(dialled), outside.server.queryCount()]).toEqual([new Set(["93.184.216.34 80"]), 2]);
  expect((await scan("rep_2", request)).kind).toBe("refused");
  expect(new Set(dialled).size).toBe(1);
});

test("a scan is emitted once its report is on the disk, and not where it does not get there", async () => {
  using folder = temporaryFolder("scan-sync");
  const asked: ((error: Error | null) => void)[] = [];
  using database = openScans(folder.path, systemClock, (_file, done) => void asked.push(done));
  const scan = createScan(
    {
      ...{ store: database.scans, clock: systemClock, lookUp: systemAddressLookup },
      clientOf: (lookUp) => createHttpClient({ lookUp, clock: systemClock }, { allowPrivate: true }),
      signingKey: { sign: () => "" },
      randomName: () => "nowhere",
      step: atOnce,
      onScanned: () => {},
    },
    { allowPrivate: true },
  );
  using service = startMadeUpService({});
  const request = { origin: service.origin, resources: [], reportUrl: "" };
  let told = "";
  const scanned = scan("rep_1", request).then(({ kind }) => {
    told = kind;
  });
  while (asked.length === 0) await Bun.sleep(1);
  expect([database.scans.find("rep_1")?.reportId, told]).toEqual(["rep_1", ""]);
  asked[0]?.(null);
  await scanned;
  expect(told).toBe("scanned");
  const failing = scan("rep_2", request);
  while (asked.length === 1) await Bun.sleep(1);
  asked[1]?.(new Error("EIO"));
  await expect(failing).rejects.toThrow("the log of the scans did not reach the disk");
});

test("scanned hosts are listed in the export and in the changes", async () => {
  await using server = await start({ JUDGE_URL: "https://judge.example" });
  using service = startMadeUpService({});
  const { score } = await jsonOf<ScanReply>(await server.scan({ origin: service.origin }));
  const url = `${service.origin}/v1/paid`;
  const deadline = performance.now() + 10_000;
  let text = "";
  while (text === "" && performance.now() < deadline) {
    await Bun.sleep(50);
    text = await (await server.call("/v1/directory/export")).text();
  }
  expect(JSON.parse(text)).toMatchObject({
    host: "good.example",
    score,
    evidence: { price_usd: "0.010000", pay_to: expect.stringMatching(/^0x/) },
    resources: [{ url, price_usd: "0.010000" }],
    judged_by: `https://judge.example/v1/check?resource=${encodeURIComponent(url)}`,
  });
  const { changes } = await jsonOf<{ changes: { op: string; host: string }[] }>(
    await server.call("/v1/changes"),
  );
  expect(changes).toMatchObject([{ op: "upsert", host: "good.example" }]);
});

test("a host that a former version listed by a scan of another port leaves the directory with the start", async () => {
  using folder = temporaryFolder("former-listings");
  const former = openScans(folder.path, systemClock);
  for (const [n, port] of ["", ":8443"].entries()) {
    const record = listing(n);
    const url = `https://${record.host}${port}/v1/run`;
    const judged_by = `https://judge.example/v1/check?resource=${encodeURIComponent(url)}`;
    const resources = record.resources.map((resource) => ({ ...resource, url }));
    former.scans.list(record.host, JSON.stringify({ ...record, resources, judged_by }));
  }
  former[Symbol.dispose]();
  await using server = await start({ DATA_DIR: folder.path, SCAN_ALLOW_PRIVATE: "false" });
  await until("the removal", async () => {
    const text = await (await server.call("/v1/directory/export")).text();
    const hosts = text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).host]));
    return JSON.stringify(hosts) === JSON.stringify([listing(0).host]);
  });
});

test("it describes itself: valid OpenAPI with prices, a manifest, and what agents look for", async () => {
  await using server = await start({ PUBLIC_URL: "https://scan.example" });
  const document = await jsonOf<{ paths: { [path: string]: { [method: string]: object } } }>(
    await server.call("/openapi.json"),
  );
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  expect([valid, errors]).toEqual([true, undefined]);
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
    ([, ref]) => ref ?? "",
  );
  const lookUp = (ref: string) =>
    ref
      .split("/")
      .reduce<unknown>((at, part) => (at as { [name: string]: unknown } | undefined)?.[part], document);
  expect(references.filter((ref) => lookUp(ref) === undefined)).toEqual([]);
  for (const method of ["post", "get"]) {
    expect(document.paths["/v1/scan"]?.[method]).toMatchObject({
      "x-payment-info": {
        price: { mode: "fixed", currency: "USD", amount: "0.05" },
        protocols: [{ x402: {} }],
      },
      responses: { 402: {}, 504: {} },
    });
  }
  expect(await (await server.call("/.well-known/x402")).json()).toMatchObject({
    version: 1,
    resources: ["https://scan.example/v1/scan"],
  });
  for (const path of [
    "/healthz",
    "/health",
    "/docs",
    "/llms.txt",
    "/robots.txt",
    "/.well-known/api-catalog",
  ]) {
    expect([path, (await server.call(path)).status]).toEqual([path, 200]);
  }
});

test("it passes its own checks of payment and discovery", async () => {
  await using server = await start();
  const { checks } = await jsonOf<ScanReply>(await server.scan({ origin: server.url }));
  const own = checks.filter(({ id }) => /^(pay|disc|http)\./.test(id) && id !== "pay.binding");
  expect(
    own
      .filter(({ status }) => status !== "pass" && status !== "na")
      .map(({ id, evidence }) => [id, evidence.observed]),
  ).toEqual([]);
});

test("/health fails while no report can be written, and its check truly writes", async () => {
  await using server = await start();
  using database = new Database(join(server.dataDir, "scans.db"));
  const version = () => database.query("PRAGMA data_version").get();
  const reports = async () =>
    (await jsonOf<{ checks: { reports: { status: string } } }>(await server.call("/health"))).checks.reports;
  const before = version();
  expect((await reports()).status).toBe("pass");
  expect(version()).not.toEqual(before);
  database.run("BEGIN IMMEDIATE");
  // An answer is valid for a second.
  await until("the failure", async () => (await reports()).status === "fail");
  expect((await server.call("/health")).status).toBe(503);
  database.run("COMMIT");
});
