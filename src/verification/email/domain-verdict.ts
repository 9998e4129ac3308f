import type { Finding } from "../../contract/email-reasons.ts";
import type { DomainFacts, MailEvidence, MailPolicy, MailRouting } from "./domain-facts.ts";
import { type LocalVerdicts, verdictsOf } from "./local-verdict.ts";
import { normalisationRuleOf } from "./normalisation.ts";
import { type NormalisationRule, type Provider, providerOf } from "./providers.ts";
import { suggestDomain } from "./suggestion.ts";

/** The part of a verification that all addresses of a domain share, computed once. */
export type DomainVerdict = {
  readonly domain: string;
  readonly provider: Provider | undefined;
  readonly normalisation: NormalisationRule;
  readonly suggestion: string | null;
  readonly hasMx: boolean;
  readonly mxHosts: readonly string[];
  readonly isDisposable: boolean;
  readonly isFreeProvider: boolean;
  readonly verdicts: LocalVerdicts;
};

/** Verifies a domain by its facts. */
export function verifyDomain(facts: DomainFacts): DomainVerdict {
  const { mail, lists } = facts;
  const provider = providerOf(facts.domain);
  const isKnown = provider !== undefined || lists.freeProvider;
  const suggestion = isKnown ? null : suggestDomain(facts.domain, evidenceOf(mail));
  const findings = [...findingsOf(mail, facts.policy)];
  if (lists.disposable !== null) findings.push("disposable");
  if (suggestion !== null) findings.push("possible_typo");
  if (provider?.kind === "relay") findings.push("privacy_relay");
  if (lists.freeProvider) findings.push("free_provider");
  const hosts = mail.state === "mx" ? mail.hosts : null;
  const mxHosts = hosts ?? [];
  return {
    domain: facts.domain,
    provider,
    normalisation: normalisationRuleOf(provider, mxHosts),
    suggestion,
    hasMx: hosts !== null,
    mxHosts,
    isDisposable: lists.disposable !== null,
    isFreeProvider: lists.freeProvider,
    verdicts: verdictsOf(findings, hosts),
  };
}

/** Returns whether the domain is known to accept mail, which distinguishes a little known domain from a typo. */
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
