import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createDnsCache } from "../../src/dns/cache.ts";
import { createStubResolver, type StubResolver } from "../../src/dns/resolver.ts";
import type { ServerAddress } from "../../src/dns/server-address.ts";
import { createDomainFacts } from "../../src/domains/facts.ts";
import { factsIn } from "../../src/domains/known-domains.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { mailRoutingRows, masterFile, written } from "../support/mail-routing-rows.ts";
import { findServer, type RealServer, startNsd, startUnbound } from "../support/real-dns.ts";

const nsd = findServer("nsd");
const unbound = findServer("unbound");

const many = Array.from(
  { length: 90 },
  (_, at) => `many TXT "${String(at).padStart(2, "0")}${"x".repeat(58)}"`,
);
const ZONE = `$ORIGIN real.test.
$TTL 600
@ SOA ns hostmaster 1 3600 600 86400 120
@ NS ns
ns A 127.0.0.1
mail MX 20 Mx2
mail MX 10 mx
mx A 8.8.8.8
mx2 AAAA 2a00:1450:4001::1
*.wild MX 10 mx
null MX 0 .
text TXT "v=spf1 " "-all"
alias CNAME mail
dangling CNAME gone
away CNAME mail.elsewhere.test.
loop CNAME loop2
loop2 CNAME loop
deep.empty.sub A 8.8.8.8
${many.join("\n")}
`;

function resolverFor(server: ServerAddress): StubResolver {
  return createStubResolver({ servers: [server], clock: systemClock });
}

describe.skipIf(nsd === null)("nsd", () => {
  let server: RealServer;
  let resolver: StubResolver;

  beforeAll(async () => {
    server = await startNsd(nsd ?? "", { "real.test": ZONE, com: masterFile(), "unloaded.test": null });
    resolver = resolverFor(server.address);
  });

  afterAll(async () => {
    resolver.close();
    await server[Symbol.asyncDispose]();
  });

  test("returns records with their TTL", async () => {
    const lookup = await resolver.lookUp("mail.real.test", "MX");
    expect(lookup).toMatchObject({ outcome: "answer", ttlSeconds: 600, alias: false });
    expect([...lookup.records].sort((a, b) => a.preference - b.preference)).toEqual([
      { preference: 10, exchange: "mx.real.test" },
      { preference: 20, exchange: "mx2.real.test" },
    ]);
    expect((await resolver.lookUp("mx.real.test", "A")).records).toEqual(["8.8.8.8"]);
    expect((await resolver.lookUp("mx2.real.test", "AAAA")).records).toEqual(["2a00:1450:4001::1"]);
    expect((await resolver.lookUp("null.real.test", "MX")).records).toEqual([
      { preference: 0, exchange: "." },
    ]);
    expect((await resolver.lookUp("text.real.test", "TXT")).records).toEqual(["v=spf1 -all"]);
    expect((await resolver.lookUp("any.wild.real.test", "MX")).outcome).toBe("answer");
  });

  test("distinguishes NODATA from NXDOMAIN, with the TTL that the SOA allows", async () => {
    expect(await resolver.lookUp("mx.real.test", "MX")).toMatchObject({ outcome: "nodata", ttlSeconds: 120 });
    expect(await resolver.lookUp("empty.sub.real.test", "MX")).toMatchObject({ outcome: "nodata" });
    expect(await resolver.lookUp("gone.real.test", "MX")).toMatchObject({
      outcome: "nxdomain",
      ttlSeconds: 120,
    });
  });

  test("sends a reply over 4 KB by TCP", async () => {
    const before = resolver.stats().tcpQueries;
    const { records } = await resolver.lookUp("many.real.test", "TXT");
    expect(records).toHaveLength(90);
    expect(records.join("").length).toBeGreaterThan(4096);
    expect(resolver.stats().tcpQueries).toBe(before + 1);
  });

  test("has its aliases followed: to records, to no data, in loops, and out of its zones", async () => {
    expect(await resolver.lookUp("alias.real.test", "MX")).toMatchObject({ outcome: "answer", alias: true });
    expect(await resolver.lookUp("dangling.real.test", "MX")).toMatchObject({
      outcome: "nxdomain",
      alias: true,
    });
    expect((await resolver.lookUp("loop.real.test", "MX")).outcome).toBe("error");
    expect(await resolver.lookUp("away.real.test", "MX")).toMatchObject({
      outcome: "error",
      detail: "refused",
    });
  });

  test("answers SERVFAIL for a zone it could not load: an error, not a missing name", async () => {
    expect(await resolver.lookUp("a.unloaded.test", "MX")).toMatchObject({
      outcome: "error",
      detail: "servfail",
    });
  });

  test("answers 20,000 look-ups at full speed, none lost", async () => {
    const lookups = Array.from({ length: 20_000 }, (_, at) => resolver.lookUp(`d${at}.wild.real.test`, "MX"));
    const outcomes = (await Promise.all(lookups)).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome !== "answer")).toEqual([]);
  });

  test("has its replies read that arrive while this process is busy", async () => {
    const hasty = createStubResolver({
      servers: [server.address],
      clock: systemClock,
      attemptTimeoutsMs: [120],
    });
    await hasty.lookUp("mail.real.test", "MX");
    const lookup = hasty.lookUp("mx.real.test", "A");
    const until = performance.now() + 300;
    while (performance.now() < until);
    expect((await lookup).outcome).toBe("answer");
    hasty.close();
  });

  test("yields the mail routing of the table, row by row", async () => {
    const facts = createDomainFacts({
      cache: createDnsCache({ resolver, clock: systemClock }),
      lists: { listsOf: () => ({ disposable: null, freeProvider: false }) },
      clock: systemClock,
    });
    const rows = mailRoutingRows().filter((row) => !row.faulty);
    expect(rows.length).toBeGreaterThan(60);
    for (const { domain, routing } of rows) {
      const { mail } = factsIn(await facts.findDomain(domain, { dns: true, deep: false }));
      expect(`${domain}: ${written(mail)}`).toBe(`${domain}: ${routing}`);
    }
  });
});

describe.skipIf(nsd === null || unbound === null)("unbound before nsd", () => {
  let authority: RealServer;
  let server: RealServer;
  let resolver: StubResolver;

  beforeAll(async () => {
    authority = await startNsd(nsd ?? "", { "real.test": ZONE, "elsewhere.test": ZONE_ELSEWHERE });
    const stubs = { "real.test": authority.address, "elsewhere.test": authority.address };
    server = await startUnbound(unbound ?? "", stubs, { "lame.net": authority.address });
    resolver = resolverFor(server.address);
  });

  afterAll(async () => {
    resolver.close();
    await server[Symbol.asyncDispose]();
    await authority[Symbol.asyncDispose]();
  });

  test("follows an alias from zone to zone", async () => {
    const lookup = await resolver.lookUp("away.real.test", "MX");
    expect(lookup).toMatchObject({ outcome: "answer", alias: true });
    expect(lookup.records[0]?.exchange).toBe("mx.elsewhere.test");
  });

  test("distinguishes NODATA from NXDOMAIN", async () => {
    expect((await resolver.lookUp("mx.real.test", "MX")).outcome).toBe("nodata");
    expect((await resolver.lookUp("gone.real.test", "MX")).outcome).toBe("nxdomain");
  });

  test("passes on a reply over 4 KB by TCP", async () => {
    expect((await resolver.lookUp("many.real.test", "TXT")).records).toHaveLength(90);
  });

  test("answers SERVFAIL where its own servers refuse: never a missing name", async () => {
    expect(await resolver.lookUp("a.lame.net", "MX")).toMatchObject({ outcome: "error", detail: "servfail" });
  });
});

const ZONE_ELSEWHERE = `$ORIGIN elsewhere.test.
$TTL 600
@ SOA ns hostmaster 1 3600 600 86400 120
@ NS ns
ns A 127.0.0.1
mail MX 10 mx
mx A 9.9.9.9
`;

test("a silent server is a time-out", async () => {
  const silent = await Bun.udpSocket({ hostname: "127.0.0.1", socket: { data: () => {} } });
  const resolver = createStubResolver({
    servers: [{ ip: "127.0.0.1", port: silent.port }],
    clock: systemClock,
    attemptTimeoutsMs: [50, 50],
    lookupTimeoutMs: 100,
  });
  expect((await resolver.lookUp("a.com", "MX")).outcome).toBe("timeout");
  resolver.close();
  silent.close();
});
