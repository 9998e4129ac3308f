import { createFairLookups } from "../batch/fair-lookups.ts";
import { createEmailWriter } from "../batch/written-email.ts";
import { createDnsCache } from "../dns/cache.ts";
import { createStubResolver } from "../dns/resolver.ts";
import { serversOf } from "../dns/system-servers.ts";
import { createDenialWatch, type DenialWatchDependencies } from "../domains/denial-watch.ts";
import { createEmailChecks } from "../domains/email-check.ts";
import { createDomainFacts } from "../domains/facts.ts";
import { createDomainLists, type DomainListing } from "../domains/lists.ts";
import { byTenant, type createTestFacts } from "../test-keys/test-lookups.ts";
import { createAddressParser } from "../verification/email/address.ts";
import { createAddressVerifier } from "../verification/email/verification.ts";
import type { Platform } from "./platform.ts";
import type { DnsConfig } from "./settings.ts";

/** The DNS and what is known of mail domains. */
export function openLookups(
  dns: DnsConfig,
  {
    clock,
    report,
    lists = createDomainLists(),
    testFacts,
  }: Pick<Platform, "clock"> &
    Pick<DenialWatchDependencies, "report"> & {
      readonly lists?: DomainListing;
      /** Where the tenants of test keys look up. */
      readonly testFacts?: ReturnType<typeof createTestFacts>;
    },
  stack: AsyncDisposableStack,
) {
  const stub = createStubResolver({
    servers: serversOf(dns.servers),
    clock,
    lookupTimeoutMs: dns.lookupTimeoutMs,
    inFlightMax: dns.inFlightMax,
  });
  stack.defer(() => stub.close());
  const denialWatch = stack.use(
    createDenialWatch({ resolver: stub, ...(report === undefined ? {} : { report }) }),
  );
  const { resolver, epoch } = denialWatch;
  const dnsCache = createDnsCache({ resolver, clock, entriesMax: dns.cacheEntriesMax, epoch });
  const facts = createDomainFacts({
    cache: dnsCache,
    lists,
    clock,
    entriesMax: dns.cacheEntriesMax,
    epoch,
  });
  const fairFacts = createFairLookups(facts, {
    clock,
    queriesMax: dns.inFlightMax,
    repliesUnread: stub.unread,
  });
  const domainFacts = testFacts === undefined ? fairFacts : byTenant(fairFacts, testFacts);
  const parser = createAddressParser();
  const verify = createAddressVerifier(parser);
  const checkWith = createEmailChecks({
    source: domainFacts,
    clock,
    parser,
    timeoutMs: dns.requestTimeoutMs,
  });
  return {
    resolver: stub,
    denialWatch,
    dnsCache,
    domainFacts,
    checkEmail: checkWith(verify),
    writeEmail: checkWith(createEmailWriter(verify)),
  };
}
