import type { Clock } from "../platform/clock.ts";
import type { AddressParser } from "../verification/email/address.ts";
import { type DomainJudgement, judgeDomain } from "../verification/email/domain-verdict.ts";
import { type DomainFactsSource, factsIn, type KnownDomain } from "./facts.ts";

/** Looks up the domain of one address and judges it: at once where the domain is known. */
export type EmailCheck<Result> = (
  text: string,
  options: { readonly deep: boolean; readonly dns: boolean; readonly tenant?: string },
) => Result | Promise<Result>;

/** Domains whose judgement is kept; past this all are forgotten. Each takes 1 to 6 KB. */
const JUDGEMENTS_MAX = 20_000;

/** Returns a maker of checks, one for each judge. All that it makes share the judgements of domains. */
export function createEmailChecks(parts: {
  readonly source: DomainFactsSource;
  readonly clock: Clock;
  readonly parser: AddressParser;
  /** Each check waits for the DNS no longer than this in all. */
  readonly timeoutMs: number;
  readonly judgementsMax?: number;
}) {
  const { source, clock, parser, timeoutMs, judgementsMax = JUDGEMENTS_MAX } = parts;
  const judged: KnownDomain[] = [];

  function judgementOf(domain: KnownDomain): DomainJudgement {
    if (domain.judgement !== null) return domain.judgement;
    if (judged.length >= judgementsMax) for (const old of judged.splice(0)) old.judgement = null;
    judged.push(domain);
    domain.judgement = judgeDomain(factsIn(domain));
    return domain.judgement;
  }

  // The judge is handed no judgement where no DNS could save the address.
  return <Result>(
    judge: (text: string, judgement: DomainJudgement | undefined) => Result,
  ): EmailCheck<Result> => {
    return (text, options) => {
      const domain = parser.mailDomainOf(text);
      if (domain === null) return judge(text, undefined);
      const known = source.knownDomain(domain, options);
      if (known !== undefined) return judge(text, judgementOf(known));
      return source
        .findDomain(domain, { ...options, deadlineMs: clock.monotonic() + timeoutMs })
        .then((found) => judge(text, judgementOf(found)));
    };
  };
}
