import { mailDomainOf } from "../../../src/verification/email/address.ts";
import type { DomainFacts, MailPolicy, MailRouting } from "../../../src/verification/email/domain-facts.ts";
import { verifyDomain } from "../../../src/verification/email/domain-verdict.ts";
import type { EmailVerification } from "../../../src/verification/email/email-verification.ts";
import { type AddressVerifier, createAddressVerifier } from "../../../src/verification/email/verification.ts";

/** Verifies an address with these facts about its domain. */
export function verifiedBy(
  text: string,
  factsOf: (domain: string) => DomainFacts,
  verify: AddressVerifier = createAddressVerifier(),
): EmailVerification {
  const domain = mailDomainOf(text);
  return verify(text, domain === null ? undefined : verifyDomain(factsOf(domain)));
}

/** Returns facts about a domain from words such as `mx targets=dead cname disposable=listed free spf=none`. */
export function factsFrom(domain: string, words: string): DomainFacts {
  const marks = new Map<string, string | undefined>(words.split(" ").map(markFrom));
  const disposable = marks.get("disposable");
  const policy = policyFrom(marks);
  return {
    domain,
    mail: routingFrom(domain, words.split(" ")[0] ?? "", marks),
    lists: {
      disposable: disposable === "listed" || disposable === "mail_host" ? disposable : null,
      freeProvider: marks.has("free"),
    },
    ...(policy === undefined ? {} : { policy }),
  };
}

function markFrom(word: string): [string, string | undefined] {
  const [name = "", value] = word.split("=");
  return [name, value];
}

function routingFrom(
  domain: string,
  state: string,
  marks: ReadonlyMap<string, string | undefined>,
): MailRouting {
  if (state !== "mx") return { state } as MailRouting;
  return {
    state,
    hosts: [`mx1.${domain}`, `mx2.${domain}`],
    targets: (marks.get("targets") ?? "public") as "public",
    cname: marks.has("cname"),
    partlyDead: marks.has("partly"),
    nullMixed: marks.has("nullmixed"),
  };
}

function policyFrom(marks: ReadonlyMap<string, string | undefined>): MailPolicy | undefined {
  const spf = marks.get("spf");
  if (spf === undefined) return undefined;
  return {
    spf: {
      state: spf as "found",
      all: (marks.get("all") ?? null) as "-" | null,
      sendsNoMail: marks.has("sendsnomail"),
    },
    dmarc: {
      state: (marks.get("dmarc") ?? "none") as "none",
      policy: (marks.get("policy") ?? null) as "reject" | null,
    },
  };
}
