import { LRUCache } from "lru-cache";
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
  /** On the monotonic clock: as long as the shortest-lived look-up that the facts were made from. */
  readonly expiresAtMs: number;
  /** What follows from the facts, once somebody has worked it out. */
  domainVerdict: DomainVerdict | null;
};

/** Of an entry, beside its texts. */
const BYTES_BESIDE_TEXTS = 150;

export function withJson(
  facts: DomainFacts,
  { epoch, expiresAtMs }: Pick<KnownDomain, "epoch" | "expiresAtMs">,
): KnownDomain {
  return { json: JSON.stringify(facts), epoch, expiresAtMs, domainVerdict: null };
}

/** Reads the facts of a known domain: some three microseconds. */
export function factsIn({ json }: KnownDomain): DomainFacts {
  return JSON.parse(json);
}

/**
 * Creates what keeps known domains, of one kind of question. The reader looks at when one expires: with a time to live of
 * the table's own each look takes a fifth longer.
 */
export function createKnownDomains(entriesMax: number, bytesPerEntry: number): LRUCache<string, KnownDomain> {
  return new LRUCache<string, KnownDomain>({
    max: entriesMax,
    maxSize: entriesMax * bytesPerEntry,
    sizeCalculation: ({ json }, domain) => BYTES_BESIDE_TEXTS + domain.length + json.length,
  });
}
