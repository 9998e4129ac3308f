import type { Clock } from "../platform/clock.ts";
import type { AddressParser } from "../verification/email/address.ts";
import { type DomainVerdict, verifyDomain } from "../verification/email/domain-verdict.ts";
import type { DomainFactsSource } from "./facts.ts";
import { factsIn, type KnownDomain } from "./known-domains.ts";

/** Looks up the domain of an address and verifies the address: synchronously where the domain is cached. */
export type EmailCheck<Result> = (
  text: string,
  options: { readonly deep: boolean; readonly dns: boolean; readonly tenant?: string },
) => Result | Promise<Result>;

/** Domains whose verdict is cached; past this the cache is cleared. Each takes 1 to 6 KB. */
const DOMAIN_VERDICTS_MAX = 20_000;

/** Creates checks, one for each verifier, which share the verdicts on domains. */
export function createEmailChecks(dependencies: {
  readonly source: DomainFactsSource;
  readonly clock: Clock;
  readonly parser: AddressParser;
  /** The deadline of all look-ups of a check. */
  readonly timeoutMs: number;
  readonly domainVerdictsMax?: number;
}) {
  const { source, clock, parser, timeoutMs, domainVerdictsMax = DOMAIN_VERDICTS_MAX } = dependencies;
  const withVerdict: KnownDomain[] = [];

  function verdictOf(domain: KnownDomain): DomainVerdict {
    if (domain.domainVerdict !== null) return domain.domainVerdict;
    if (withVerdict.length >= domainVerdictsMax)
      for (const old of withVerdict.splice(0)) old.domainVerdict = null;
    withVerdict.push(domain);
    domain.domainVerdict = verifyDomain(factsIn(domain));
    return domain.domainVerdict;
  }

  // Without a domain verdict where the address is refused whatever the DNS says.
  return <Result>(
    verify: (text: string, domainVerdict: DomainVerdict | undefined) => Result,
  ): EmailCheck<Result> => {
    return (text, options) => {
      const domain = parser.mailDomainOf(text);
      if (domain === null) return verify(text, undefined);
      const known = source.knownDomain(domain, options);
      if (known !== undefined) return verify(text, verdictOf(known));
      return source
        .findDomain(domain, { ...options, deadlineMs: clock.monotonic() + timeoutMs })
        .then((found) => verify(text, verdictOf(found)));
    };
  };
}
