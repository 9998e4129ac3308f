import type { DnsCache } from "../dns/cache.ts";
import type { MailPolicy } from "../verification/email/domain-facts.ts";
import type { SharedAllowance } from "./allowed-lookup.ts";
import { findDmarc } from "./dmarc.ts";
import { evaluateSpf } from "./spf.ts";
import { createSpfRecords } from "./spf-records.ts";

export type PolicyFinding = {
  /** Given whether the domain exists: the policy of a missing sub-domain may be another one. */
  readonly policyFor: (exists: boolean) => MailPolicy;
  /** The instant on `Clock.monotonic` up to which this holds. */
  readonly expiresAt: number;
};

export type MailPolicies = {
  /**
   * Finds what a domain publishes by SPF and DMARC. Never rejects. DMARC walks up the tree with what SPF leaves of
   * the allowance.
   */
  readonly policyOf: (domain: string, shared: SharedAllowance) => Promise<PolicyFinding>;
};

export function createMailPolicies({ cache }: { readonly cache: DnsCache }): MailPolicies {
  const records = createSpfRecords();
  const policyOf: MailPolicies["policyOf"] = async (domain, shared) => {
    const evaluated = evaluateSpf({ cache, records }, domain, shared);
    const [spf, dmarc] = await Promise.all([evaluated, findDmarc(cache, domain, shared, evaluated)]);
    return {
      policyFor: (exists) => ({
        spf: spf.finding,
        dmarc: { state: dmarc.state, policy: exists ? dmarc.policy : dmarc.policyIfMissing },
      }),
      expiresAt: Math.min(spf.expiresAt, dmarc.expiresAt),
    };
  };

  return { policyOf };
}
