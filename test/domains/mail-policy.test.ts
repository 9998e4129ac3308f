import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createDnsCache, type DnsCache } from "../../src/dns/cache.ts";
import { findDmarc, namesToLookUp } from "../../src/domains/dmarc.ts";
import { evaluateSpf } from "../../src/domains/spf.ts";
import { parseSpf } from "../../src/domains/spf-record.ts";
import { createSpfRecords } from "../../src/domains/spf-records.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { type ResolverUnderTest, startDns } from "../support/dns-server.ts";
import dmarcText from "../vectors/dns/dmarc.txt" with { type: "text" };
import spfText from "../vectors/dns/spf.txt" with { type: "text" };

type Row = { readonly domain: string; readonly expected: string; readonly zone: string };

function readRows(text: string): Row[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      const [domain = "", expected = "", records = "", flag = ""] = line
        .split("|")
        .map((field) => field.trim());
      return { domain, expected: `${expected} ${flag}`.trim(), zone: records.split(" ;; ").join("\n") };
    });
}

const spfRows = readRows(spfText);
const dmarcRows = readRows(dmarcText);

let dns: ResolverUnderTest;
let cache: DnsCache;

const NOTHING = Promise.resolve();
const unshared = () => ({ allowance: { left: 20 }, returned: NOTHING });

beforeAll(async () => {
  dns = await startDns([...spfRows, ...dmarcRows].map(({ zone }) => zone).join("\n"), {
    attemptTimeoutsMs: [1500],
  });
  cache = createDnsCache({ resolver: dns.resolver, clock: systemClock });
});

afterAll(() => dns[Symbol.asyncDispose]());

describe("SPF", () => {
  test.each(spfRows)("$domain: $expected", async ({ domain, expected }) => {
    const { finding } = await evaluateSpf({ cache, records: createSpfRecords() }, domain, unshared());
    const words = [finding.state, finding.all ?? "", finding.sendsNoMail ? "sends_no_mail" : ""];
    expect(words.filter((word) => word !== "").join(" ")).toBe(expected);
  });

  test("the time for a record is linear in its length: brackets that open no macro hold nobody up", () => {
    const startedMs = performance.now();
    const record = parseSpf(`v=spf1 exists:${"%%{".repeat(60_000)} -all`);
    expect([record, performance.now() - startedMs < 500]).toEqual([null, true]);
  });
});

describe("DMARC", () => {
  test.each(dmarcRows)("$domain: $expected", async ({ domain, expected }) => {
    const { state, policy, policyIfMissing } = await findDmarc(cache, domain, unshared(), NOTHING);
    const missing = policyIfMissing === policy ? "" : `, missing ${policyIfMissing}`;
    expect(`${state}${policy === null ? "" : ` ${policy}`}${missing}`).toBe(expected);
  });

  test("looks up at most eight names, as in the example of the RFC", () => {
    expect(namesToLookUp("a.b.c.d.e.f.g.h.i.j.mail.example.com")).toEqual([
      "a.b.c.d.e.f.g.h.i.j.mail.example.com",
      "g.h.i.j.mail.example.com",
      "h.i.j.mail.example.com",
      "i.j.mail.example.com",
      "j.mail.example.com",
      "mail.example.com",
      "example.com",
      "com",
    ]);
    expect(namesToLookUp("example.com")).toEqual(["example.com", "com"]);
  });

  test("looks up the parents that many domains share once", () => {
    expect(dns.server.queryCount("_dmarc.com", "TXT")).toBe(1);
  });

  test("does not walk the tree where the domain has a record of its own", async () => {
    await findDmarc(cache, "own.com", unshared(), NOTHING);
    expect(dns.server.queryCount("_dmarc.own.com", "TXT")).toBe(1);
    expect(dns.server.queryCount("_dmarc.walked.own.com", "TXT")).toBe(0);
  });
});
