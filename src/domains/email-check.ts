import type { Clock } from "../clock.ts";
import { createAddressParser } from "../email/address.ts";
import { type DomainJudgement, judgeDomain } from "../email/domain-judgement.ts";
import type { EmailVerification } from "../email/email-verification.ts";
import { createEmailJudge } from "../email/verification.ts";
import { type DomainFactsSource, factsIn, type KnownDomain } from "./facts.ts";

/** Looks up the domain of one address and judges it: at once where the domain is known. */
export type EmailCheck = (
  text: string,
  options: { readonly deep: boolean; readonly dns: boolean },
) => EmailVerification | Promise<EmailVerification>;

/** Domains whose judgement is kept; past this all are forgotten. Each takes some 2 KB. */
const JUDGEMENTS_MAX = 20_000;

/** Checks single addresses; each waits for the DNS no longer than `timeoutMs` in all. */
export function createEmailCheck(source: DomainFactsSource, clock: Clock, timeoutMs: number): EmailCheck {
  const parser = createAddressParser();
  const judge = createEmailJudge(parser);
  const judged: KnownDomain[] = [];

  function judgementOf(domain: KnownDomain): DomainJudgement {
    if (domain.judgement !== null) return domain.judgement;
    if (judged.length >= JUDGEMENTS_MAX) for (const old of judged.splice(0)) old.judgement = null;
    judged.push(domain);
    domain.judgement = judgeDomain(factsIn(domain));
    return domain.judgement;
  }

  return (text, options) => {
    const domain = parser.mailDomainOf(text);
    if (domain === null) return judge(text, undefined);
    const known = source.knownDomain(domain, options);
    if (known !== undefined) return judge(text, judgementOf(known));
    return source
      .findDomain(domain, { ...options, deadlineMs: clock.monotonic() + timeoutMs })
      .then((found) => judge(text, judgementOf(found)));
  };
}
