import { LRUCache } from "lru-cache";
import type { DomainFacts, MailRouting } from "../verification/email/domain-facts.ts";
import type { DomainVerdict } from "../verification/email/domain-verdict.ts";

/**
 * The cached facts of a domain, as JSON, which is also what threads get: there may be hundreds of thousands of domains, and
 * one text each is little work for the garbage collector.
 */
export type KnownDomain = {
  readonly json: string;
  /** The epoch of the DNS in which they were looked up. */
  readonly epoch: number;
  /** The expiry, on the monotonic clock: that of the look-up with the shortest TTL. */
  readonly expiresAtMs: number;
  /** Whether the look-up that decides failed, and a later one may not. */
  readonly isFailure: boolean;
  /** The verdict on the facts, once it is computed. */
  domainVerdict: DomainVerdict | null;
  /** The facts until the end of the turn in which they were found: who waited for them need not parse them. */
  facts?: DomainFacts | null;
};

/** Bytes of an entry beside its texts. */
const BYTES_BESIDE_TEXTS = 150;

export function withJson(
  facts: DomainFacts,
  { epoch, expiresAtMs }: Pick<KnownDomain, "epoch" | "expiresAtMs">,
): KnownDomain {
  const isFailure = hasFailed(facts.mail);
  return { json: JSON.stringify(facts), epoch, expiresAtMs, isFailure, domainVerdict: null, facts: null };
}

function hasFailed(mail: MailRouting): boolean {
  return mail.state === "mx"
    ? mail.targets === "unknown"
    : mail.state === "timeout" || mail.state === "error";
}

/** Returns the facts of a known domain: as they were just found, or parsed, in some 3 µs. */
export function factsIn({ facts, json }: KnownDomain): DomainFacts {
  return facts ?? JSON.parse(json);
}

/** Holds the facts of domains until the end of the turn. */
export function createFreshFacts() {
  let domains: KnownDomain[] = [];
  const forget = () => {
    for (const domain of domains) domain.facts = null;
    domains = [];
  };
  return {
    hold(domain: KnownDomain, facts: DomainFacts): void {
      domain.facts = facts;
      if (domains.push(domain) === 1) setImmediate(forget);
    },
  };
}

/**
 * Creates the cache of one kind of question. Its reader checks the expiry: with the table's own TTL each access takes a
 * fifth longer.
 */
export function createKnownDomains(entriesMax: number, bytesPerEntry: number): LRUCache<string, KnownDomain> {
  return new LRUCache<string, KnownDomain>({
    max: entriesMax,
    maxSize: entriesMax * bytesPerEntry,
    sizeCalculation: ({ json }, domain) => BYTES_BESIDE_TEXTS + domain.length + json.length,
  });
}
