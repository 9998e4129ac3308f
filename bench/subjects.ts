import { openLookups } from "../src/app/lookups.ts";
import { createEmailWriter } from "../src/batch/written-email.ts";
import { factsIn } from "../src/domains/known-domains.ts";
import { startFixtureServer } from "../src/made-up-dns/server.ts";
import { systemClock } from "../src/platform/clock.ts";
import { openStore } from "../src/store/sqlite/open.ts";
import { createAddressParser, mailDomainOf } from "../src/verification/email/address.ts";
import { type DomainVerdict, verifyDomain } from "../src/verification/email/domain-verdict.ts";
import { gibberishScore } from "../src/verification/email/gibberish.ts";
import { normalisationRuleOf, normalizedAddress } from "../src/verification/email/normalisation.ts";
import { providerOf } from "../src/verification/email/providers.ts";
import { suggestDomain } from "../src/verification/email/suggestion.ts";
import { createAddressVerifier } from "../src/verification/email/verification.ts";
import { openAccounts } from "./accounts.ts";
import { type AddressCase, addressCorpus, TYPOS, warmingAddresses } from "./input.ts";
import { documentSubjects, phoneSubjects } from "./item-subjects.ts";
import { over, type Subject } from "./subject.ts";
import { VECTORS } from "./vector-input.ts";

const SEED = 20_260;
const ADDRESSES = 2000;
const COMPANIES = 300;
const encoder = new TextEncoder();
const LOOKUP_OPTIONS = { deep: false, dns: true } as const;
const DNS = {
  lookupTimeoutMs: 4000,
  requestTimeoutMs: 5000,
  inFlightMax: 200,
  cacheEntriesMax: 100_000,
} as const;

/** The functions that every check is made of, with a DNS server and a database of their own. */
export async function createSubjects(
  vectors: URL = VECTORS,
): Promise<AsyncDisposable & { readonly subjects: readonly Subject[] }> {
  await using stack = new AsyncDisposableStack();
  const corpus = addressCorpus({ seed: SEED, count: ADDRESSES, domains: COMPANIES });
  const subjects = [
    ...textSubjects(corpus.cases),
    ...(await lookupSubjects(corpus.cases, corpus.zone, stack)),
    ...(await documentSubjects(SEED, vectors)),
    ...(await phoneSubjects(SEED, vectors)),
    keySubject(stack),
  ];
  const opened = stack.move();
  return { subjects, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

function textSubjects(cases: readonly AddressCase[]): Subject[] {
  const parser = createAddressParser();
  const readable = cases.flatMap(({ text }) => {
    const address = parser.parse(text);
    return address.ok ? [address] : [];
  });
  const unreadable = new Set(["invalid_syntax", "invalid_tld"]);
  return [
    over(
      "email",
      "parse an address",
      cases,
      ({ text }) => parser.parse(text),
      ({ subStatus }, address) => address.ok !== unreadable.has(subStatus),
    ),
    over(
      "email",
      "normalise an address",
      readable,
      ({ local, domain }) => normalizedAddress(local, domain, normalisationRuleOf(providerOf(domain), [])),
      ({ local, domain }, key) =>
        domain !== "gmail.com" || key === `${local.replace(/\+.*$/, "").replaceAll(".", "")}@gmail.com`,
    ),
    over(
      "email",
      "score a local part for gibberish",
      readable,
      ({ local }) => gibberishScore(local),
      (_, score) => score >= 0 && score < 0.9,
    ),
    over(
      "email",
      "suggest a domain for a typo",
      TYPOS,
      (domain) => suggestDomain(domain, "none"),
      (_, meant) => ["gmail.com", "hotmail.com", "yahoo.com", "outlook.com"].includes(meant ?? ""),
    ),
    over(
      "email",
      "suggest nothing for a good domain",
      Array.from({ length: COMPANIES }, (_, n) => `company-${n}.com`),
      (domain) => ({ meant: suggestDomain(domain, "works") }),
      (_, { meant }) => meant === null,
    ),
  ];
}

async function lookupSubjects(
  cases: readonly AddressCase[],
  zone: string,
  stack: AsyncDisposableStack,
): Promise<Subject[]> {
  const dns = await startFixtureServer({ zone });
  stack.defer(() => dns.close());
  const lookups = openLookups({ ...DNS, servers: [dns.address] }, { clock: systemClock }, stack);
  const { domainFacts, writeEmail, dnsCache } = lookups;
  for (const text of warmingAddresses(cases)) await writeEmail(text, LOOKUP_OPTIONS);
  const domains = [...new Set(cases.flatMap(({ text }) => mailDomainOf(text) ?? []))];
  const domainVerdicts = new Map<string, DomainVerdict>();
  for (const domain of domains) {
    domainVerdicts.set(domain, verifyDomain(factsIn(await domainFacts.findDomain(domain, LOOKUP_OPTIONS))));
  }
  const write = createEmailWriter(createAddressVerifier());
  const parser = createAddressParser();
  const verdictOf = (text: string) => domainVerdicts.get(parser.mailDomainOf(text) ?? "");
  return [
    over(
      "domains",
      "find a domain's facts in the cache",
      domains,
      (domain) => domainFacts.knownDomain(domain, LOOKUP_OPTIONS),
      (domain, known) => known !== undefined && factsIn(known).domain === domain,
    ),
    cachedMxSubject(domains, dnsCache),
    over(
      "email",
      "judge an address and write its JSON",
      cases,
      ({ text }) => encoder.encode(write(text, verdictOf(text)).json),
      ({ status, subStatus }, json) =>
        Buffer.from(json).includes(`"status":"${status}","sub_status":"${subStatus}"`),
    ),
    checkSubject(cases, writeEmail),
  ];
}

type Lookups = ReturnType<typeof openLookups>;

function cachedMxSubject(domains: readonly string[], dnsCache: Lookups["dnsCache"]): Subject {
  return {
    group: "domains",
    name: "look up MX records in the cache",
    calls: domains.length,
    async fault() {
      const { misses } = dnsCache.stats();
      for (const domain of domains) await dnsCache.lookUp(domain, "MX");
      return dnsCache.stats().misses === misses ? null : "the cache does not hold what was looked up";
    },
    async turn() {
      let records = 0;
      for (const domain of domains) records += (await dnsCache.lookUp(domain, "MX")).records.length;
      return records;
    },
  };
}

function checkSubject(cases: readonly AddressCase[], writeEmail: Lookups["writeEmail"]): Subject {
  return {
    group: "email",
    name: "check one address and write it, warm",
    calls: cases.length,
    async fault() {
      for (const { text, status, subStatus } of cases) {
        const result = await writeEmail(text, LOOKUP_OPTIONS);
        if (result.status !== status || result.sub_status !== subStatus) {
          return `${text} is ${status} ${subStatus}, not ${result.status} ${result.sub_status}`;
        }
      }
      return null;
    },
    async turn() {
      let bytes = 0;
      for (const { text } of cases)
        bytes += encoder.encode((await writeEmail(text, LOOKUP_OPTIONS)).json).length;
      return bytes;
    },
  };
}

function keySubject(stack: AsyncDisposableStack): Subject {
  const clock = systemClock;
  const store = openStore({ path: ":memory:", clock });
  stack.defer(() => store.close());
  const { keyRing, signUp } = openAccounts(store, clock);
  const made = Array.from({ length: 64 }, (_, n) => signUp(`owner${n}@gmail.com`));
  return over(
    "accounts",
    "find the account of a key",
    made,
    ({ apiKey }) => keyRing.find(apiKey),
    ({ accountId }, account) => account?.accountId === accountId,
  );
}
