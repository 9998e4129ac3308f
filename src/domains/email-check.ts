import type { Clock } from "../clock.ts";
import { createAddressParser } from "../email/address.ts";
import type { DomainFacts } from "../email/domain-facts.ts";
import { type DomainJudgement, judgeDomain } from "../email/domain-judgement.ts";
import type { EmailVerification } from "../email/email-verification.ts";
import { createEmailJudge } from "../email/verification.ts";
import type { DomainFactsSource } from "./facts.ts";

/** Looks up the domain of one address and judges it: at once where the domain is known. */
export type EmailCheck = (
  text: string,
  options: { readonly deep: boolean; readonly dns: boolean },
) => EmailVerification | Promise<EmailVerification>;

/** Checks single addresses; each waits for the DNS no longer than `timeoutMs` in all. */
export function createEmailCheck(source: DomainFactsSource, clock: Clock, timeoutMs: number): EmailCheck {
  // Known facts are the same object until they expire, and so is what follows from them.
  const judgements = new WeakMap<DomainFacts, DomainJudgement>();
  const judgementOf = (facts: DomainFacts): DomainJudgement => {
    const known = judgements.get(facts);
    if (known !== undefined) return known;
    const judgement = judgeDomain(facts);
    judgements.set(facts, judgement);
    return judgement;
  };
  const { mailDomainOf } = createAddressParser();
  const judge = createEmailJudge();
  return (text, options) => {
    const domain = mailDomainOf(text);
    if (domain === null) return judge(text, undefined);
    const known = source.cachedFacts(domain, options);
    if (known !== undefined) return judge(text, judgementOf(known));
    return source
      .factsOf(domain, { ...options, deadlineMs: clock.monotonic() + timeoutMs })
      .then((facts) => judge(text, judgementOf(facts)));
  };
}
