import { describe, expect, test } from "bun:test";
import { createDnsCache } from "../../src/dns/cache.ts";
import { createDomainFacts } from "../../src/domains/facts.ts";
import { factsIn } from "../../src/domains/known-domains.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { startDns } from "../support/dns-server.ts";

const QUERIES_MAX = 20;
const NUMBERS = Array.from({ length: 60 }, (_, at) => at);

/** What is found out about one domain, and the server that was asked for it. */
async function find(domain: string, zone: string, options: { deep: boolean; fault?: string }) {
  await using dns = await startDns(zone);
  dns.server.setFault(options.fault ?? null);
  const source = createDomainFacts({
    cache: createDnsCache({ resolver: dns.resolver, clock: systemClock }),
    lists: { listsOf: () => ({ disposable: null, freeProvider: false }) },
    clock: systemClock,
  });
  return {
    ...factsIn(await source.findDomain(domain, { dns: true, deep: options.deep })),
    asked: dns.server.queryCount,
  };
}

/** A record with nine includes, of which two have as many, and so on. */
function includes(name: string, levels: number): string[] {
  const children = NUMBERS.slice(0, 9).map((at) => `${at}.${name}`);
  const record = `${name} TXT "v=spf1 ${children.map((child) => `include:${child}`).join(" ")} -all"`;
  if (levels === 0) return [record, ...children.map((child) => `${child} TXT "v=spf1 -all"`)];
  return [record, ...children.slice(0, 2).flatMap((child) => includes(child, levels - 1))];
}

const mail = (domain: string): string => `${domain} MX 10 mx.${domain}\nmx.${domain} A 8.8.8.8`;
const spf = (domain: string, terms: string[]): string => `${domain} TXT "v=spf1 ${terms.join(" ")} -all"`;
const missing = (domain: string): string[] => NUMBERS.map((at) => `${domain} MX ${at} mx${at}.${domain}`);
const bare = (domain: string): string[] => NUMBERS.map((at) => `mx${at}.${domain} TXT x`);
const LONG = "a.b.c.d.e.f.g.h.evil.com";

describe("a domain causes at most 20 queries, whatever it publishes", () => {
  test.each<[string, string, string[]]>([
    ["nine includes a level", "evil.com", [mail("evil.com"), ...includes("evil.com", 2)]],
    [
      "names without an IPv4 address in SPF",
      "evil.com",
      [
        mail("evil.com"),
        spf(
          "evil.com",
          NUMBERS.slice(0, 10).map((at) => `a:${at}.six.com`),
        ),
        ...NUMBERS.slice(0, 10).map((at) => `${at}.six.com AAAA 2a00::1`),
      ],
    ],
    ["60 exchangers that do not exist", "evil.com", missing("evil.com")],
    ["60 exchangers without addresses", "evil.com", [...missing("evil.com"), ...bare("evil.com")]],
    ["a name of ten labels", LONG, [mail(LONG)]],
    ["all of it", LONG, [...missing(LONG), ...bare(LONG), ...includes(LONG, 2)]],
  ])("%s", async (_, domain, zone) => {
    for (const deep of [true, false]) {
      for (const fault of ["!delay 1", "!truncate"]) {
        const { asked } = await find(domain, zone.join("\n"), { deep, fault });
        expect(asked()).toBeLessThanOrEqual(QUERIES_MAX);
        expect([1, 2]).toContain(asked(domain, "MX"));
      }
    }
  });
});

describe("SPF", () => {
  test("makes at most ten look-ups, in the order of the record, and none ahead", async () => {
    const zone = [mail("evil.com"), ...includes("evil.com", 1)].join("\n");
    const { policy, asked } = await find("evil.com", zone, { deep: true });
    expect(policy?.spf.state).toBe("permerror");
    // Its own, that of 0, the nine in it, and by then ten are looked up.
    const visited = ["evil.com", "0.evil.com", ...NUMBERS.slice(0, 9).map((at) => `${at}.0.evil.com`)];
    expect(visited.map((name) => asked(name, "TXT"))).toEqual(visited.map(() => 1));
    expect(asked("1.evil.com", "TXT")).toBe(0);
  });

  test("stops after the third void look-up", async () => {
    const terms = ["a:one.com", "exists:two.com", "a:three.com", "include:four.com", "a:five.com"];
    const zone = `${mail("evil.com")}\n${spf("evil.com", terms)}\none.com TXT x\nfour.com TXT "v=spf1 -all"`;
    const { policy, asked } = await find("evil.com", zone, { deep: true });
    expect(policy?.spf.state).toBe("permerror");
    expect(["one.com", "two.com", "three.com"].map((name) => asked(name, "A"))).toEqual([1, 1, 1]);
    expect([asked("four.com"), asked("five.com")]).toEqual([0, 0]);
  });

  test("looks up AAAA of a name only where it decides", async () => {
    const terms = ["a:one.com", "a:two.com", "mx"];
    const zone = [mail("good.com"), spf("good.com", terms), "one.com TXT x", "two.com AAAA 2a00::1"].join(
      "\n",
    );
    const { policy, asked } = await find("good.com", zone, { deep: true });
    expect(policy?.spf).toMatchObject({ state: "found", all: "-" });
    expect([asked("one.com", "AAAA"), asked("two.com", "AAAA")]).toEqual([0, 0]);
    const three = zone.replace("a:two.com", "a:two.com a:two.com a:one.com");
    const more = await find("good.com", three, { deep: true });
    expect(more.policy?.spf).toMatchObject({ state: "found", all: "-" });
    expect([more.asked("one.com", "AAAA"), more.asked("two.com", "AAAA")]).toEqual([1, 1]);
  });
});

test("a legitimate domain with many records is resolved completely", async () => {
  const domain = "news.good.com";
  const five = NUMBERS.slice(0, 5);
  const ten = NUMBERS.slice(0, 10);
  const zone = [
    ...five.map((at) => `${domain} MX ${at} mx${at}.good.com\nmx${at}.good.com A 8.8.8.8`),
    spf(
      domain,
      ten.map((at) => `include:${at}.spf.com`),
    ),
    ...ten.map((at) => `${at}.spf.com TXT "v=spf1 -all"`),
    '_dmarc.good.com TXT "v=DMARC1; p=none; sp=reject"',
  ].join("\n");
  const found = await find(domain, zone, { deep: true });
  expect(found.mail).toMatchObject({ state: "mx", targets: "public", partlyDead: false });
  expect(found.policy).toEqual({
    spf: { state: "found", all: "-", sendsNoMail: false },
    dmarc: { state: "found", policy: "reject" },
  });
  expect(found.asked()).toBeLessThanOrEqual(QUERIES_MAX);
});
