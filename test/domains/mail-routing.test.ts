import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { systemClock } from "../../src/clock.ts";
import { createDnsCache } from "../../src/dns/cache.ts";
import { createDomainFacts, type DomainFactsSource } from "../../src/domains/facts.ts";
import type { MailRouting } from "../../src/email/domain-facts.ts";
import { type ResolverUnderTest, startDns } from "../support/dns-server.ts";
import rowsText from "../vectors/dns/mail-routing.txt" with { type: "text" };
import zone from "../vectors/dns/mail-routing-zone.txt" with { type: "text" };

const rows = rowsText
  .split("\n")
  .filter((line) => line.trim() !== "" && !line.startsWith("#"))
  .map((line) => line.split("|").map((field) => field.trim()));

const PLAIN = { dns: true, deep: false };

let dns: ResolverUnderTest;
let facts: DomainFactsSource;

beforeAll(async () => {
  dns = await startDns(zone, { attemptTimeoutsMs: [150, 150, 150] });
  facts = createDomainFacts({
    cache: createDnsCache({ resolver: dns.resolver, clock: systemClock }),
    lists: { listsOf: () => ({ disposable: null, freeProvider: false }) },
    clock: systemClock,
  });
  await Promise.all(rows.map(([domain = ""]) => facts.factsOf(domain, PLAIN)));
});

afterAll(() => dns[Symbol.asyncDispose]());

function written(mail: MailRouting): string {
  if (mail.state !== "mx") return mail.state;
  const flags = [
    mail.cname ? " +cname" : "",
    mail.partlyDead ? " +partly_dead" : "",
    mail.nullMixed ? " +null_mixed" : "",
  ];
  return `mx ${mail.hosts.join(",")} ${mail.targets}${flags.join("")}`;
}

describe("mail routing", () => {
  test.each(rows)("%s: %s", async (domain = "", routing = "") => {
    expect(written((await facts.factsOf(domain, PLAIN)).mail)).toBe(routing);
  });

  test("a name that does not exist is not asked for its address", () => {
    expect(dns.server.queryCount("missing-row.com")).toBe(1);
  });

  test("a null MX keeps the address from being asked for", () => {
    expect(dns.server.queryCount("null-mx-address-row.com")).toBe(1);
  });

  test("a host that many domains share is asked for once", () => {
    expect(dns.server.queryCount("mx1.hosts.com", "A")).toBe(1);
  });

  test("a sub-domain does not inherit the exchangers of its parent", async () => {
    expect((await facts.factsOf("www.one-host-row.com", PLAIN)).mail.state).toBe("no_domain");
  });
});
