import { LRUCache } from "lru-cache";
import type { Clock } from "../platform/clock.ts";
import type { DomainFacts } from "../verification/email/domain-facts.ts";
import type { DomainVerdict } from "../verification/email/domain-verdict.ts";

/**
 * What is known of a domain. The facts are kept as JSON, which is what crosses to a thread: hundreds of thousands of
 * domains may be known, and one text each is little work for the collector of garbage.
 */
export type KnownDomain = {
  readonly json: string;
  /** The epoch of the DNS in which they were asked for. */
  readonly epoch: number;
  /** What follows from the facts, once somebody has worked it out. */
  domainVerdict: DomainVerdict | null;
};

/** Of an entry, beside its texts. */
const BYTES_BESIDE_TEXTS = 150;

export function withJson(facts: DomainFacts, epoch: number): KnownDomain {
  return { json: JSON.stringify(facts), epoch, domainVerdict: null };
}

/** Reads the facts of a known domain: some three microseconds. */
export function factsIn({ json }: KnownDomain): DomainFacts {
  return JSON.parse(json);
}

/** Creates what keeps known domains, of one kind of question. Each stays as long as its entry says. */
export function createKnownDomains(
  entriesMax: number,
  bytesPerEntry: number,
  clock: Clock,
): LRUCache<string, KnownDomain> {
  return new LRUCache<string, KnownDomain>({
    max: entriesMax,
    maxSize: entriesMax * bytesPerEntry,
    sizeCalculation: ({ json }, domain) => BYTES_BESIDE_TEXTS + domain.length + json.length,
    perf: { now: clock.monotonic },
    ttlResolution: 0,
  });
}
