import type { DomainFacts, MailEvidence, MailPolicy, MailRouting } from "./domain-facts.ts";
import { normalisationRuleOf } from "./normalisation.ts";
import { type NormalisationRule, type Provider, providerOf } from "./providers.ts";
import type { Finding } from "./reasons.ts";
import { suggestDomain } from "./suggestion.ts";
import { gibberishFinding, gibberishPoints, type Verdict, verdictOf } from "./verdict.ts";
import type { VerificationFrame } from "./verification-frame.ts";

/** What holds for every address of a domain, worked out once. */
export type DomainJudgement = {
  readonly facts: DomainFacts;
  readonly provider: Provider | undefined;
  readonly normalisation: NormalisationRule;
  readonly suggestion: string | null;
  readonly hasMx: boolean;
  readonly mxHosts: readonly string[];
  readonly isDisposable: boolean;
  readonly isFreeProvider: boolean;
  /** The verdict on a local part; each is worked out once, and there are fewer than 80 of them. */
  readonly verdictOn: (isRole: boolean, gibberishScore: number) => LocalVerdict;
};

/** A verdict on some local parts of one domain. */
export type LocalVerdict = Verdict & {
  /** What the JSON of their verifications has in common, once somebody has worked it out. */
  frame: VerificationFrame | null;
};

export function judgeDomain(facts: DomainFacts): DomainJudgement {
  const { mail, lists } = facts;
  const provider = providerOf(facts.domain);
  const isKnown = provider !== undefined || lists.freeProvider;
  const suggestion = isKnown ? null : suggestDomain(facts.domain, evidenceOf(mail));
  const findings = [...findingsOf(mail, facts.policy)];
  if (lists.disposable !== null) findings.push("disposable");
  if (suggestion !== null) findings.push("possible_typo");
  if (provider?.kind === "relay") findings.push("privacy_relay");
  if (lists.freeProvider) findings.push("free_provider");
  const mxHosts = mail.state === "mx" ? mail.hosts : [];
  return {
    facts,
    provider,
    normalisation: normalisationRuleOf(provider, mxHosts),
    suggestion,
    hasMx: mail.state === "mx",
    mxHosts,
    isDisposable: lists.disposable !== null,
    isFreeProvider: lists.freeProvider,
    verdictOn: verdictsOver(findings),
  };
}

function verdictsOver(findings: readonly Finding[]): DomainJudgement["verdictOn"] {
  // Most local parts are no gibberish: theirs are at hand.
  let onPerson: LocalVerdict | undefined;
  let onRole: LocalVerdict | undefined;
  const onGibberish = new Map<number, LocalVerdict>();

  function verdictWith(isRole: boolean, finding: Finding | null, gibberishScore: number): LocalVerdict {
    const all = new Set(findings);
    if (isRole) all.add("role_account");
    if (finding !== null) all.add(finding);
    return { ...verdictOf(all, gibberishScore), frame: null };
  }

  return (isRole, gibberishScore) => {
    const finding = gibberishFinding(gibberishScore);
    if (finding === null && isRole) {
      onRole ??= verdictWith(isRole, null, gibberishScore);
      return onRole;
    }
    if (finding === null) {
      onPerson ??= verdictWith(isRole, null, gibberishScore);
      return onPerson;
    }
    const key = gibberishPoints(gibberishScore) * 4 + (finding === "gibberish" ? 2 : 0) + (isRole ? 1 : 0);
    let verdict = onGibberish.get(key);
    if (verdict === undefined) {
      verdict = verdictWith(isRole, finding, gibberishScore);
      onGibberish.set(key, verdict);
    }
    return verdict;
  };
}

/** Whether mail to the domain is known to arrive somewhere, which tells a slip from a little known name. */
function evidenceOf(mail: MailRouting): MailEvidence {
  switch (mail.state) {
    case "mx":
      return mail.targets === "dead" || mail.targets === "private" ? "none" : "works";
    case "no_domain":
    case "no_mail_server":
    case "null_mx":
      return "none";
    default:
      return "unknown";
  }
}

function* findingsOf(mail: MailRouting, policy: MailPolicy | undefined): Generator<Finding> {
  yield "mailbox_not_probed";
  yield* mailFindings(mail, policy);
  if (policy !== undefined) yield* policyFindings(policy);
}

function* mailFindings(mail: MailRouting, policy: MailPolicy | undefined): Generator<Finding> {
  switch (mail.state) {
    case "not_checked":
      yield "dns_not_checked";
      break;
    case "timeout":
      yield "dns_timeout";
      break;
    case "error":
      yield "dns_error";
      break;
    case "no_domain":
      yield "domain_not_found";
      break;
    case "no_mail_server":
    case "null_mx":
      yield mail.state;
      break;
    case "implicit_mx":
      yield policy?.spf.sendsNoMail === true ? "domain_sends_no_mail" : "implicit_mx";
      break;
    case "mx":
      if (mail.targets !== "public") yield TARGET_FINDINGS[mail.targets];
      if (mail.partlyDead) yield "mx_partially_broken";
      if (mail.cname) yield "mx_is_cname";
      if (mail.nullMixed) yield "null_mx_mixed";
  }
}

const TARGET_FINDINGS = {
  unknown: "dns_error",
  literal: "mx_is_ip",
  private: "mx_unroutable",
  dead: "mx_unresolvable",
} as const;

function* policyFindings({ spf, dmarc }: MailPolicy): Generator<Finding> {
  if (spf.state === "none") yield "spf_missing";
  else if (spf.state === "permerror") yield "spf_permerror";
  else if (spf.all === "+") yield "spf_pass_all";
  if (dmarc.state === "none") yield "dmarc_missing";
  else if (dmarc.state === "found" && dmarc.policy !== "quarantine") {
    yield dmarc.policy === "reject" ? "dmarc_reject" : "dmarc_none";
  }
}
