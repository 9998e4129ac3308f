import { createDnsCache } from "../dns/cache.ts";
import { createStubResolver } from "../dns/resolver.ts";
import { parseServerAddress } from "../dns/server-address.ts";
import { createDomainFacts, type DomainFactsSource } from "../domains/facts.ts";
import type { DomainListing } from "../domains/lists.ts";
import { startFixtureServer } from "../made-up-dns/server.ts";
import type { Clock } from "../platform/clock.ts";
import { MADE_UP_ZONE } from "./made-up-zone.ts";

const ENTRIES_MAX = 10_000;
const IN_FLIGHT_MAX = 50;
const LOOKUP_TIMEOUT_MS = 2_000;

/** Starts the demo's made-up DNS on a port of this machine, and returns the source of facts that asks it. */
export async function openTestFacts({
  clock,
  lists,
}: {
  readonly clock: Clock;
  readonly lists: DomainListing;
}): Promise<DomainFactsSource & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const dns = stack.use(await startFixtureServer({ zone: MADE_UP_ZONE }));
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
  const opened = stack.move();
  return { ...source, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
