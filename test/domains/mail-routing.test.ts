import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createDnsCache } from "../../src/dns/cache.ts";
import { createDomainFacts, type DomainFactsSource } from "../../src/domains/facts.ts";
import { factsIn } from "../../src/domains/known-domains.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { type ResolverUnderTest, startDns } from "../support/dns-server.ts";
import { mailRoutingRows, mailRoutingZone, written } from "../support/mail-routing-rows.ts";

const PLAIN = { dns: true, deep: false };
const rows = mailRoutingRows();

let dns: ResolverUnderTest;
let facts: DomainFactsSource;

/** Exchangers that are no use. */
const deadHosts = (domain: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${domain} MX ${at} gone${at}.${domain}`);
const spareHosts = Array.from({ length: 20 }, (_, at) => `spare-hosts.com MX ${at} mx${at}.spare.com`);
const longName = `${["a", "b", "c"].map((letter) => letter.repeat(60)).join(".")}.com`;
const manyHostsZone = [
  ...deadHosts("many-hosts.com", 17),
  "many-hosts.com MX 99 alive.many-hosts.com",
  "alive.many-hosts.com A 8.8.8.8",
  ...Array.from({ length: 64 }, (_, at) => `long-hosts.com MX ${at} mx${at}.${longName}`),
  `*.${longName} A 8.8.8.8`,
  'unaskable-host.com MX 10 "mx 1.hosts.com"',
  'unaskable-spare.com MX 10 "mx 1.hosts.com"',
  "unaskable-spare.com MX 20 alive.many-hosts.com",
  ...deadHosts("endless-hosts.com", 60),
  ...spareHosts,
  "*.spare.com A 8.8.8.8",
].join("\n");

beforeAll(async () => {
  // Long enough that a busy machine makes no second attempt, which would ask twice for what is asked for once.
  dns = await startDns(`${mailRoutingZone}\n${manyHostsZone}`, { attemptTimeoutsMs: [1500, 1500] });
  facts = createDomainFacts({
    cache: createDnsCache({ resolver: dns.resolver, clock: systemClock }),
    lists: { listsOf: () => ({ disposable: null, freeProvider: false }) },
    clock: systemClock,
  });
  await Promise.all(rows.map(({ domain }) => facts.findDomain(domain, PLAIN)));
});

afterAll(() => dns[Symbol.asyncDispose]());

describe("mail routing", () => {
  test.each(rows)("$domain: $routing", async ({ domain, routing }) => {
    expect(written(factsIn(await facts.findDomain(domain, PLAIN)).mail)).toBe(routing);
  });

  test("no address is looked up of a name that does not exist", () => {
    expect(dns.server.queryCount("missing-row.com")).toBe(1);
  });

  test("no address is looked up beside a null MX", () => {
    expect(dns.server.queryCount("null-mx-address-row.com")).toBe(1);
  });

  test("a host that many domains share is looked up once", () => {
    expect(dns.server.queryCount("mx1.hosts.com", "A")).toBe(1);
  });

  test("a host that accepts mail is found after many preferred ones that do not", async () => {
    const { mail } = factsIn(await facts.findDomain("many-hosts.com", PLAIN));
    expect(mail).toMatchObject({ state: "mx", targets: "public", partlyDead: true });
    expect(dns.server.queryCount("gone0.many-hosts.com", "A")).toBe(1);
  });

  test("a domain with more dead hosts than the query allowance is unknown, not undeliverable", async () => {
    const { mail } = factsIn(await facts.findDomain("endless-hosts.com", PLAIN));
    expect(mail).toMatchObject({ state: "mx", targets: "unknown" });
    expect(dns.server.queryCount("gone0.endless-hosts.com", "A")).toBe(1);
    expect(dns.server.queryCount("gone59.endless-hosts.com", "A")).toBe(0);
  });

  test("a host with an invalid name is dead, which is no failure of the DNS", async () => {
    const routingOf = async (domain: string) => factsIn(await facts.findDomain(domain, PLAIN)).mail;
    expect(await routingOf("unaskable-host.com")).toMatchObject({ state: "mx", targets: "dead" });
    expect(await routingOf("unaskable-spare.com")).toMatchObject({ targets: "public", partlyDead: true });
  });

  test("hosts after those that accept mail are not looked up", async () => {
    await facts.findDomain("spare-hosts.com", PLAIN);
    expect(dns.server.queryCount("mx19.spare.com", "A")).toBe(0);
    expect(dns.server.queryCount("mx0.spare.com", "A")).toBe(1);
  });

  test("hosts with long names are reported up to 4 KB", async () => {
    const { mail } = factsIn(await facts.findDomain("long-hosts.com", PLAIN));
    const hosts = mail.state === "mx" ? mail.hosts : [];
    expect(mail).toMatchObject({ state: "mx", targets: "public" });
    expect(hosts).toEqual(Array.from({ length: 21 }, (_, at) => `mx${at}.${longName}`));
  });

  test("a sub-domain does not inherit the exchangers of its parent", async () => {
    expect(factsIn(await facts.findDomain("www.one-host-row.com", PLAIN)).mail.state).toBe("no_domain");
  });
});
