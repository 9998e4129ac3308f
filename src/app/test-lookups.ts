import { writtenEmail } from "../batch/written-email.ts";
import { MADE_UP_DOMAINS } from "../demo/test-addresses.ts";
import { DEMO_ZONE } from "../demo/zone.ts";
import { createDnsCache } from "../dns/cache.ts";
import { createStubResolver } from "../dns/resolver.ts";
import { parseServerAddress } from "../dns/server-address.ts";
import type { EmailCheck } from "../domains/email-check.ts";
import { createDomainFacts, type DomainFactsSource, type KnownDomain } from "../domains/facts.ts";
import type { DomainListing } from "../domains/lists.ts";
import type { Clock } from "../platform/clock.ts";
import { isTestTenant } from "../platform/test-tenant.ts";
import { startFixtureServer } from "../tools/made-up-dns/server.ts";
import type { DomainFacts } from "../verification/email/domain-facts.ts";
import { checkFailed, type WrittenVerification } from "../verification/email/verification.ts";

const ENTRIES_MAX = 10_000;
const IN_FLIGHT_MAX = 50;
const LOOKUP_TIMEOUT_MS = 2_000;

/** The look-ups of test keys: those of the demo's made-up DNS, answered by this process on a port of this machine. */
export async function openTestFacts(
  { clock, lists }: { readonly clock: Clock; readonly lists: DomainListing },
  stack: AsyncDisposableStack,
): Promise<DomainFactsSource> {
  const dns = stack.use(await startFixtureServer({ zone: DEMO_ZONE }));
  const server = parseServerAddress(dns.address);
  if (server === null) throw new Error("the made-up DNS has no address");
  const resolver = createStubResolver({
    servers: [server],
    clock,
    lookupTimeoutMs: LOOKUP_TIMEOUT_MS,
    inFlightMax: IN_FLIGHT_MAX,
  });
  stack.defer(() => resolver.close());
  const cache = createDnsCache({ resolver, clock, entriesMax: ENTRIES_MAX });
  const source = createDomainFacts({ cache, lists, clock, entriesMax: ENTRIES_MAX });
  const madeUp = madeUpDomains();
  return {
    ...source,
    findDomain: async (domain, options) => madeUp.get(domain) ?? source.findDomain(domain, options),
    knownDomain: (domain, options) => madeUp.get(domain) ?? source.knownDomain(domain, options),
  };
}

/** Lets the tenants of test keys look up with a source of their own. */
export function byTenant(live: DomainFactsSource, test: DomainFactsSource): DomainFactsSource {
  const sourceOf = (tenant = "") => (isTestTenant(tenant) ? test : live);
  return {
    ...live,
    findDomain: (domain, options) => sourceOf(options.tenant).findDomain(domain, options),
    knownDomain: (domain, options) => sourceOf(options.tenant).knownDomain(domain, options),
  };
}

/** A check that breaks is answered as one, where a test key asks for it: nothing is broken then. */
export function withMadeUpFailure(check: EmailCheck<WrittenVerification>): EmailCheck<WrittenVerification> {
  const ending = `@${MADE_UP_DOMAINS.checkFailed}`;
  return (text, options) =>
    isTestTenant(options.tenant ?? "") && text.endsWith(ending)
      ? writtenEmail(checkFailed(text))
      : check(text, options);
}

function madeUpDomains(): ReadonlyMap<string, KnownDomain> {
  const lists = { disposable: null, freeProvider: false } as const;
  const { timeout, notChecked, sendsNoMail, checkFailed: broken } = MADE_UP_DOMAINS;
  const spf = { state: "found", all: "-", sendsNoMail: true } as const;
  const policy = { spf, dmarc: { state: "none", policy: null } } as const;
  const facts: readonly DomainFacts[] = [
    { domain: timeout, lists, mail: { state: "timeout" } },
    { domain: notChecked, lists, mail: { state: "not_checked" } },
    { domain: sendsNoMail, lists, mail: { state: "implicit_mx" }, policy },
  ];
  const known = (json: string): KnownDomain => ({ json, epoch: 0, domainVerdict: null });
  return new Map([
    ...facts.map((each) => [each.domain, known(JSON.stringify(each))] as const),
    // Facts that no check can read.
    [broken, known("null")] as const,
  ]);
}
