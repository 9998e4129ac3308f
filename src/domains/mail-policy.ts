import type { DnsCache } from "../dns/cache.ts";
import type { MailPolicy } from "../verification/email/domain-facts.ts";
import type { SharedAllowance } from "./allowed-lookup.ts";
import { findDmarc } from "./dmarc.ts";
import { evaluateSpf } from "./spf.ts";
import { createSpfRecords } from "./spf-records.ts";

export type PolicyFinding = {
  /** Returns the policy, which may differ for a sub-domain that does not exist. */
  readonly policyFor: (exists: boolean) => MailPolicy;
  /** The expiry, on `Clock.monotonic`. */
  readonly expiresAt: number;
};

export type MailPolicies = {
  /**
   * Looks up SPF and DMARC of a domain. Never rejects. DMARC walks up the tree with the rest of the query allowance.
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
