import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ListingBody } from "../../src/contract/directory-schemas.ts";
import type { CheckView } from "../../src/contract/specification/directory/check.ts";
import { type AddressLookup, systemAddressLookup } from "../../src/net/address-lookup.ts";
import { createHttpClient } from "../../src/net/http-client.ts";
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import { dayOf } from "../../src/platform/days.ts";
import { createOwnEvidence } from "../../src/prober/own-evidence.ts";
import { createProber } from "../../src/prober/prober.ts";
import { createPublishedEvidence } from "../../src/prober/published-evidence.ts";
import type { Probe } from "../../src/store/probe-port.ts";
import { openProbes } from "../../src/store/sqlite/side-databases/probes/open-probes.ts";
import { openProbeReader } from "../../src/store/sqlite/side-databases/probes/read-probes.ts";
import { until } from "../support/caller.ts";
import { jsonOf } from "../support/json.ts";
import { startTestServer } from "../support/server.ts";

/** `PROBED_LISTINGS=80000 PROBE_SECONDS=600` for a whole directory. */
const LISTINGS = Number(process.env.PROBED_LISTINGS ?? 100);
const ROUND_MS = Number(process.env.PROBE_SECONDS ?? 2) * 1000;

const LAST_PROBES_MS = 20_000;
/** Far more than it takes: the bound is no part of what is tested. */
const UNTIL_MS = 55_000;

let target: ReturnType<typeof startTarget>;
beforeAll(() => {
  target = startTarget();
});
afterAll(() => target.server.stop(true));

const entry = (amount: string, payTo: string) => ({ network: "eip155:8453", asset: "0xa5", amount, payTo });

const BASE_PAYEE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const SEPOLIA_USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const POLYGON_USDC = "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359";
/** Of 18 decimals. */
const MEGA_USD = {
  ...entry("1", "0xab"),
  ...{ network: "eip155:4326", asset: "0xFAfDdbb3FC7688494971a79cc65DCa3EF82079E7" },
};

/** One server whose paths are services of each kind. */
function startTarget() {
  const state = { amount: "10000", payTo: "0xaa", withPayment: 0, spelt: 0 };
  const challenge = (accepts: readonly object[]) =>
    new Response("{}", {
      status: 402,
      headers: { "PAYMENT-REQUIRED": btoa(JSON.stringify({ x402Version: 2, accepts })) },
    });
  const answers: { readonly [path: string]: (method: string) => Response } = {
    "/paid": () => challenge([entry(state.amount, state.payTo)]),
    "/first": () =>
      Response.json(
        {
          x402Version: 1,
          accepts: [{ ...entry("1", "0xbb"), amount: undefined, maxAmountRequired: "20000" }],
        },
        { status: 402 },
      ),
    "/post": (method) =>
      method === "POST" ? challenge([entry("1", "0xcc")]) : new Response("", { status: 405 }),
    "/many": () =>
      challenge([
        { ...entry("100000000000000", "0xff"), network: "eip155:56" },
        { ...entry("40000", "0xee"), asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" },
      ]),
    "/spelt": () => {
      state.spelt += 1;
      return challenge([entry("1", state.spelt % 2 === 0 ? BASE_PAYEE : BASE_PAYEE.toLowerCase())]);
    },
    "/tested": () =>
      challenge([
        { ...entry("10000", "0xaa"), network: "base-sepolia", asset: SEPOLIA_USDC },
        { ...entry("500000000", "0xaa"), network: "eip155:137", asset: POLYGON_USDC },
      ]),
    "/unpriced": () =>
      challenge([
        { ...entry("10000", "0xaa"), network: "base-sepolia", asset: SEPOLIA_USDC },
        { ...entry("7", "0xbb"), network: "eip155:56", asset: "0xa6" },
      ]),
    "/marked": () =>
      new Response(
        `\ufeff${JSON.stringify({ x402Version: 1, accepts: [{ ...entry("1", "0xbb"), maxAmountRequired: "1" }] })}`,
        {
          status: 402,
          headers: { "PAYMENT-REQUIRED": btoa(JSON.stringify({ accepts: [entry("1", "0xaa")] })) },
        },
      ),
    "/long": () =>
      Response.json(
        { padding: "x".repeat(70_000), x402Version: 1, accepts: [{ ...entry("1", "0xbb") }] },
        {
          status: 402,
          headers: { "PAYMENT-REQUIRED": btoa(JSON.stringify({ accepts: [entry("1", "0xaa")] })) },
        },
      ),
    "/fine": () => challenge([{ ...MEGA_USD, amount: "900000000000000" }]),
    "/down": () => new Response("", { status: 503 }),
    "/blocked": () => new Response("", { status: 403 }),
    "/slowed": () => new Response("", { status: 429 }),
    "/broken": () => challenge([{ network: "eip155:8453" }]),
    "/half": () => challenge([entry("1", "\ud83d")]),
    "/leak": () => new Response("for nothing"),
    "/free": () => new Response("free"),
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url, method, headers }) => {
      if (headers.has("payment-signature") || headers.has("x-payment")) state.withPayment += 1;
      return answers[new URL(url).pathname]?.(method) ?? challenge([entry("1", "0xdd")]);
    },
  });
  return { server, state, origin: server.url.origin };
}

function listing(host: string, url: string, isPaid = true): ListingBody {
  const price = isPaid ? "0.010000" : null;
  return { host, resources: [{ url, score: 1, price_usd: price }] } as unknown as ListingBody;
}

function setUp(
  listings: readonly ListingBody[],
  options: {
    clock?: Clock;
    retentionClock?: Pick<Clock, "now">;
    intervalMs?: number;
    lookUp?: AddressLookup;
  } = {},
) {
  const { clock = systemClock, intervalMs = 300, lookUp = systemAddressLookup } = options;
  const { retentionClock = clock } = options;
  const database = openProbes(null, systemClock);
  const errors: unknown[] = [];
  const prober = createProber(
    {
      client: createHttpClient({ lookUp, clock: systemClock }, { allowPrivate: true }),
      clock,
      retentionClock,
      store: database.probes,
      onProbed: () => {},
      listingCount: () => listings.length,
      listingAfter: (host) => listings.find((each) => each.host > host) ?? null,
      reportError: (error) => void errors.push(error),
    },
    { intervalMs, inFlightMax: 64 },
  );
  prober.start();
  return {
    prober,
    store: database.probes,
    errors,
    own: createOwnEvidence(database.probes, systemClock),
    async [Symbol.asyncDispose]() {
      await prober[Symbol.asyncDispose]();
      database[Symbol.dispose]();
      expect(errors).toEqual([]);
    },
  };
}

test("down, blocked and broken payment are different outcomes, and no probe pays", async () => {
  const kinds = {
    paid: "paid",
    first: "paid",
    post: "paid",
    down: "down",
    blocked: "blocked",
    slowed: "blocked",
    broken: "payment_broken",
    half: "payment_broken",
    leak: "payment_broken",
    free: "paid",
  } as const;
  const urls = Object.keys(kinds).map((kind) => `${target.origin}/${kind}`);
  const closed = "http://127.0.0.1:9/closed";
  await using probing = setUp([
    ...urls.map((url, n) => listing(`${n}.example`, url, !url.endsWith("free"))),
    listing("closed.example", closed),
  ]);
  await until(
    "probe of each",
    () =>
      probing.store.find(closed) !== undefined && urls.every((url) => probing.store.find(url) !== undefined),
    UNTIL_MS,
  );
  const found = urls.map((url) => probing.own(url)?.observed?.status);
  expect(found).toEqual(Object.values(kinds));
  expect(probing.own(closed)).toMatchObject({ uptime_30d: 0, median_latency_ms: null });
  expect(probing.own(`${target.origin}/post`)?.observed?.method).toBe("POST");
  expect(probing.own(`${target.origin}/first`)).toMatchObject({ observed_usd: "0.020000" });
  expect(probing.own(`${target.origin}/blocked`)).toMatchObject({ uptime_30d: null, probes_30d: 0 });
  expect(probing.own("https://nobody.example/")).toBeNull();
  expect(target.state.withPayment).toBe(0);
});

test("what robots.txt keeps the prober from is not asked, and robots.txt once a day", async () => {
  const asked: string[] = [];
  const rules = "User-agent: other\nDisallow: /\n\nUser-agent: assay-probe\nDisallow: /private\n";
  await using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const { pathname } = new URL(url);
      asked.push(pathname);
      return pathname === "/robots.txt" ? new Response(rules) : new Response("", { status: 403 });
    },
  });
  const url = (path: string) => `${server.url.origin}${path}`;
  await using probing = setUp([
    listing("a.example", url("/private/1")),
    listing("b.example", url("/open")),
    listing("c.example", url("/private")),
  ]);
  await until(
    "two rounds",
    () => probing.prober.stats().rounds >= 2 && probing.store.find(url("/open")) !== undefined,
    UNTIL_MS,
  );
  expect(new Set(asked)).toEqual(new Set(["/robots.txt", "/open"]));
  expect(asked.filter((path) => path === "/robots.txt")).toHaveLength(1);
});

test("the price is that of USDC, in whatever order the ways to pay come", async () => {
  const url = `${target.origin}/many`;
  await using probing = setUp([listing("many.example", url)]);
  await until("probe", () => probing.store.find(url) !== undefined, UNTIL_MS);
  expect(probing.own(url)).toMatchObject({ observed_usd: "0.040000" });
});

test("no price hides behind that of a test network, and no payee in a body that clients read and others do not", async () => {
  const url = (path: string) => `${target.origin}/${path}`;
  const paths = ["long", "marked", "tested", "unpriced"];
  await using probing = setUp(paths.map((path) => listing(`${path}.example`, url(path))));
  await until("probe", () => paths.every((path) => probing.store.find(url(path)) !== undefined), UNTIL_MS);
  expect(probing.own(url("tested"))).toMatchObject({ observed_usd: "500.000000" });
  expect(probing.own(url("unpriced"))).toMatchObject({ observed_usd: "0.000007" });
  expect(probing.own(url("marked"))?.observed?.accepts.map((way) => way.pay_to)).toEqual(["0xaa", "0xbb"]);
  expect(probing.own(url("long"))?.observed?.status).toBe("payment_broken");
});

test("the price of a token is counted by its own decimals", async () => {
  const url = `${target.origin}/fine`;
  await using probing = setUp([listing("fine.example", url)]);
  await until("probe", () => probing.store.find(url) !== undefined, UNTIL_MS);
  expect(probing.own(url)).toMatchObject({ observed_usd: "0.000900" });
});

test("each resource of a long listing is probed, a bounded number of them in one round", async () => {
  const urls = Array.from({ length: 45 }, (_, n) => `${target.origin}/long/${n}`);
  const resources = urls.map((url) => ({ url, score: 1, price_usd: "0.010000" }));
  let ms = 0;
  const clock = { now: systemClock.now, monotonic: () => ms };
  const long = { host: "long.example", resources } as unknown as ListingBody;
  await using probing = setUp([long], { clock, intervalMs: 60_000 });
  for (let round = 0; round < 3; round += 1) {
    ms += 1;
    await until("probes", () => probing.prober.stats().probes === 20 * (round + 1), UNTIL_MS);
    await until("their end", () => probing.prober.stats().inFlight === 0, UNTIL_MS);
    ms += 60_000;
    await until("round", () => probing.prober.stats().rounds === round + 1, UNTIL_MS);
  }
  await until("records", () => urls.every((url) => probing.store.find(url) !== undefined), UNTIL_MS);
});

test("a long listing is rated with any interval: its resources are called 20 times within 30 days", async () => {
  const urls = Array.from({ length: 45 }, (_, n) => `${target.origin}/long/${n}`);
  const resources = urls.map((url) => ({ url, score: 1, price_usd: "0.010000" }));
  const rare = { host: "rare.example", resources } as unknown as ListingBody;
  await using probing = setUp([rare], { intervalMs: 86_400_000 });
  await until("probe of each", () => probing.prober.stats().probes === urls.length, UNTIL_MS);
  await until("records", () => urls.every((url) => probing.store.find(url) !== undefined), UNTIL_MS);
});

test("what the DNS does not answer is not taken for down: our own connection may be", async () => {
  const found = (reason: "dns_failed" | "dns_timeout" | "dns_not_found") => async () =>
    ({ ok: false, reason }) as const;
  const lookUps = {
    "failed.example": found("dns_failed"),
    "gone.example": found("dns_not_found"),
    "late.example": found("dns_timeout"),
  };
  const lookUp = (host: string) => lookUps[host as keyof typeof lookUps]();
  const hosts = Object.keys(lookUps);
  await using probing = setUp(
    hosts.map((host) => listing(host, `https://${host}/`)),
    { lookUp },
  );
  const gone = "https://gone.example/";
  await until(
    "rounds",
    () => probing.store.find(gone) !== undefined && probing.prober.stats().rounds > 1,
    UNTIL_MS,
  );
  expect(hosts.map((host) => probing.own(`https://${host}/`)?.observed?.status)).toEqual([
    undefined,
    "down",
    undefined,
  ]);
});

test("changes of price and payee are kept, with the time from which the payee is known", async () => {
  const url = `${target.origin}/paid`;
  await using probing = setUp([listing("changing.example", url)]);
  await until("probe", () => probing.store.find(url) !== undefined, UNTIL_MS);
  expect(probing.own(url)).toMatchObject({ observed_usd: "0.010000", payee_changed_at: null });
  Object.assign(target.state, { amount: "30000", payTo: "0xee" });
  await until("change", () => probing.store.changes("changing.example", 10).length > 0, UNTIL_MS);
  const changes = probing.store.changes("changing.example", 10);
  expect(changes.map(({ kind, before, after }) => [kind, before, after])).toEqual([
    ["price", "10000", "30000"],
    ["payee", "0xaa", "0xee"],
  ]);
  const { payee_changed_at: changed, payee_first_seen: seen } = probing.own(url) ?? {};
  expect([changed === seen, typeof changed]).toEqual([true, "string"]);
});

test("a payee in another spelling is the same payee", async () => {
  const url = `${target.origin}/spelt`;
  // The first probe is in the store before the second is made.
  await using probing = setUp([listing("spelt.example", url)], { intervalMs: 2500 });
  await until("two rounds", () => (probing.own(url)?.probes_30d ?? 0) >= 2, UNTIL_MS);
  expect(probing.own(url)).toMatchObject({ payee_changed_at: null });
  expect(probing.store.changes("spelt.example", 10)).toEqual([]);
});

test("a round is spread over its interval", async () => {
  let ms = 0;
  let looks = 0;
  const monotonic = () => {
    looks += 1;
    return ms;
  };
  const clock = { now: systemClock.now, monotonic };
  const listings = Array.from({ length: 10 }, (_, n) => listing(`${n}.example`, `${target.origin}/${n}`));
  await using probing = setUp(listings, { clock, intervalMs: 60_000 });
  ms = 30_000;
  await until("five probes", () => probing.prober.stats().probes === 5, UNTIL_MS);
  const looked = looks;
  await until("two more looks", () => looks >= looked + 2, UNTIL_MS);
  expect(probing.prober.stats()).toMatchObject({ inFlight: 0, probes: 5, rounds: 0 });
  ms = 60_000;
  await until("ten probes", () => probing.prober.stats().probes === 10, UNTIL_MS);
  await until("round", () => probing.prober.stats().rounds === 1, UNTIL_MS);
});

test("a listing is changed at once by what is news, and every hour by counts that grow", () => {
  const folder = mkdtempSync(join(tmpdir(), "assay-probes-"));
  let now = Date.UTC(2026, 10, 20);
  const clock = { ...systemClock, now: () => now };
  const evidence = createPublishedEvidence(() => openProbeReader(folder), clock);
  expect([evidence.renew(), evidence.of("a.example")]).toEqual([[], null]);
  const database = openProbes(folder, clock);
  const probe = (change: object = {}) => {
    now += 60_000;
    const seen = {
      method: "GET",
      status: "paid",
      ms: 100,
      accepts: "[]",
      payTo: "0xaa",
      priceMicroUsd: 10_000,
    };
    const place = { url: "https://a.example/", host: "a.example", at: now, day: dayOf(now) };
    database.probes.record([{ ...seen, ...place, ...change } as Probe]);
    return evidence.renew();
  };
  expect(probe()).toEqual(["a.example"]);
  expect(evidence.of("a.example")).toEqual({
    ...{ uptime_30d: 1, probes_30d: 1, median_latency_ms: 100 },
    ...{ pay_to_changed_at: null, price_usd: "0.010000" },
  });
  expect([probe(), probe({ status: "blocked" })]).toEqual([[], []]);
  expect(probe({ priceMicroUsd: 20_000 })).toEqual(["a.example"]);
  expect(probe({ priceMicroUsd: 20_000, payTo: "0xbb" })).toEqual(["a.example"]);
  expect(probe({ status: "down", payTo: null, priceMicroUsd: null })).toEqual(["a.example"]);
  expect(evidence.of("a.example")).toMatchObject({ uptime_30d: 0.8, probes_30d: 5, price_usd: "0.020000" });
  now += 3_600_000;
  expect(probe({ status: "blocked" })).toEqual(["a.example"]);
  evidence[Symbol.dispose]();
  database[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

test("evidence is kept for 30 days and no longer", () => {
  const now = systemClock.now();
  // A day does not end meanwhile.
  const clock = { ...systemClock, now: () => now };
  using database = openProbes(null, clock);
  const { probes: store } = database;
  const probe = (daysAgo: number) => {
    const at = now - daysAgo * 86_400_000;
    const rest = {
      method: "GET",
      status: "paid",
      ms: 100,
      accepts: "[]",
      payTo: null,
      priceMicroUsd: null,
    } as const;
    return { url: "https://a.example/", host: "a.example", at, day: dayOf(at), ...rest };
  };
  store.record([probe(40), probe(30), probe(29), probe(0)]);
  const own = createOwnEvidence(store, clock)("https://a.example/");
  expect(own).toMatchObject({ probes_30d: 2, uptime_30d: 1, median_latency_ms: 100 });
  expect(store.removeOld(dayOf(now - 29 * 86_400_000), now, 500)).toBe(2);
  expect(store.days("https://a.example/", "0000-00-00")).toHaveLength(2);
});

test("all that is older is removed, resources that are not probed any more too, without the end of a round", async () => {
  const old = Date.parse("2026-01-01T12:00:00Z");
  let now = old;
  const clock = { ...systemClock, now: () => now };
  await using probing = setUp([], { clock, intervalMs: 86_400_000 });
  const rest = { method: "GET", status: "paid", ms: 1, accepts: "[]", priceMicroUsd: null } as const;
  const probe = (n: number, payTo: string): Probe => {
    return { url: `https://a.example/${n}`, host: "a.example", at: now, day: dayOf(now), payTo, ...rest };
  };
  const each = Array.from({ length: 250 }, (_, n) => n);
  probing.store.record(each.map((n) => probe(n, "0xaa")));
  probing.store.record(each.map((n) => probe(n, "0xbb")));
  now += 20 * 86_400_000;
  probing.store.record([probe(0, "0xbb")]);
  now += 20 * 86_400_000;
  const left = () => each.filter((n) => probing.store.find(`https://a.example/${n}`) !== undefined);
  await until(
    "removal",
    () => left().length === 1 && probing.store.changes("a.example", 1).length === 0,
    UNTIL_MS,
  );
  expect(left()).toEqual([0]);
  expect(probing.store.hostDays("a.example", "0000-00-00").map(({ day }) => day)).toEqual(["2026-01-21"]);
  expect(probing.prober.stats().rounds).toBe(0);
});

test("a clock in doubt removes no evidence", async () => {
  const old = Date.parse("2026-01-01T12:00:00Z");
  let looks = 0;
  const retentionClock = {
    now: () => {
      looks += 1;
      return old;
    },
  };
  const clock = { ...systemClock, now: () => old + 365 * 86_400_000 };
  await using probing = setUp([], { clock, retentionClock, intervalMs: 300 });
  const url = "https://a.example/";
  const rest = {
    method: "GET",
    status: "paid",
    ms: 1,
    accepts: "[]",
    payTo: null,
    priceMicroUsd: null,
  } as const;
  probing.store.record([{ url, host: "a.example", at: old, day: dayOf(old), ...rest }]);
  await until("two looks at what is old", () => looks >= 2 && probing.prober.stats().rounds >= 2, UNTIL_MS);
  expect(probing.store.days(url, "0000-00-00")).toHaveLength(1);
});

test(`a round of ${LISTINGS} listings ends within its interval, with at most 128 probes at a time and 400 MB more`, async () => {
  const width = `${LISTINGS}`.length;
  const hosts = Array.from({ length: LISTINGS }, (_, n) => `h${`${n}`.padStart(width, "0")}.example`);
  const listings = hosts.map((host, n) => listing(host, `${target.origin}/n${n}`));
  let next = 0;
  const database = openProbes(null, systemClock);
  const before = process.memoryUsage.rss();
  let mostBytes = before;
  const prober = createProber(
    {
      client: createHttpClient({ lookUp: systemAddressLookup, clock: systemClock }, { allowPrivate: true }),
      clock: systemClock,
      retentionClock: systemClock,
      store: database.probes,
      onProbed: () => {},
      listingCount: () => LISTINGS,
      listingAfter: (host) => {
        if (host === "") next = 0;
        return listings[next++] ?? null;
      },
      reportError: (error) => {
        throw error;
      },
    },
    { intervalMs: ROUND_MS, inFlightMax: 128 },
  );
  const startedMs = performance.now();
  prober.start();
  while (prober.stats().probes < LISTINGS) {
    await Bun.sleep(20);
    mostBytes = Math.max(mostBytes, process.memoryUsage.rss());
    expect(prober.stats().inFlight).toBeLessThanOrEqual(128);
  }
  const tookMs = performance.now() - startedMs;
  const seconds = (tookMs / 1000).toFixed(1);
  await prober[Symbol.asyncDispose]();
  database[Symbol.dispose]();
  const grown = Math.round((mostBytes - before) / 1_048_576);
  console.log(
    `prober: ${LISTINGS} listings in ${seconds} s of ${ROUND_MS / 1000} s, ${grown} MB more at most`,
  );
  expect(grown).toBeLessThan(400);
  // The last listings are begun as the interval ends; what they take comes on top.
  expect(tookMs).toBeLessThan(ROUND_MS + LAST_PROBES_MS);
}, 900_000);

test("a server that probes shows its own evidence everywhere; one that does not says so", async () => {
  const judgeUrl = "https://check.example";
  await using probing = await startTestServer({
    environment: {
      PROBE: "true",
      PROBE_INTERVAL_SECONDS: "10",
      DIRECTORY_SYNC_SECONDS: "1",
      JUDGE_URL: judgeUrl,
    },
  });
  const { next_cursor: cursor } = await jsonOf<{ next_cursor: string }>(
    await probing.call("/v1/changes?limit=1000"),
  );
  const { listings } = await jsonOf<{ listings: ListingBody[] }>(
    await probing.call("/v1/directory?limit=200"),
  );
  // A round goes by the order of hosts.
  const [first] = listings.toSorted((one, other) => (one.host < other.host ? -1 : 1));
  const { host = "", resources = [] } = first ?? {};
  const resource = encodeURIComponent(resources[0]?.url ?? "");
  type History = { probing: boolean; days: { down: number; uptime: number }[]; changes: object[] };
  const historyOf = async (server: typeof probing) =>
    jsonOf<History>(await server.call(`/v1/directory/${host}/history`));
  const deadline = performance.now() + 40_000;
  let history = await historyOf(probing);
  while (history.days.length === 0 && performance.now() < deadline) {
    await Bun.sleep(50);
    history = await historyOf(probing);
  }
  expect(history).toMatchObject({ probing: true, days: [{ uptime: 0 }] });
  const view = await jsonOf<CheckView>(await probing.call(`/v1/check?resource=${resource}`));
  expect(view).toMatchObject({ verdict: "unrated", uptime_30d: 0, observed: { status: "down" } });
  expect((await probing.call("/v1/directory/nobody.example/history")).status).toBe(404);
  const listed = async () => jsonOf<ListingBody>(await probing.call(`/v1/directory/${host}`));
  while ((await listed()).evidence.probes_30d > 100 && performance.now() < deadline) await Bun.sleep(50);
  const shown = await listed();
  expect(shown.evidence).toMatchObject({ uptime_30d: 0, median_latency_ms: null });
  expect(shown.judged_by).toStartWith(`${judgeUrl}/v1/check?resource=https%3A%2F%2F`);
  const lines = (await (await probing.call("/v1/directory/export")).text()).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line)).find((each) => each.host === host)).toEqual(shown);
  const { changes } = await jsonOf<{ changes: { host: string; listing: ListingBody }[] }>(
    await probing.call(`/v1/changes?cursor=${cursor}`),
  );
  expect(changes.findLast((change) => change.host === host)?.listing).toEqual(shown);
  await using still = await startTestServer();
  expect(await historyOf(still)).toMatchObject({ probing: false, days: [], changes: [] });
}, 60_000);
