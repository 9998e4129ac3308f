import { domainToUnicode } from "node:url";
import { createAddressParser, localPartIn, mayBePadded, type ParsedAddress, trimmed } from "./address.ts";
import { ESCAPED, marksIn, NOT_ASCII } from "./address-marks.ts";
import type { DomainVerdict } from "./domain-verdict.ts";
import type { EmailVerification } from "./email-verification.ts";
import { gibberishScore, gibberishScoreIn } from "./gibberish.ts";
import { type LocalVerdict, verdictOn } from "./local-verdict.ts";
import { keyOfAddress, normalisationRuleOf, normalizedAddress } from "./normalisation.ts";
import { type Provider, providerOf } from "./providers.ts";
import { isRole, isRoleIn } from "./role.ts";
import { DOMAIN_LENGTH_MAX, suggestDomain } from "./suggestion.ts";
import { fillFrame, frameOf, type VerificationFrame } from "./verification-frame.ts";

/**
 * Verifies an address, given the verdict on its domain, which is that of `mailDomainOf(text)`, and undefined only where
 * that is null.
 */
export type AddressVerifier = (text: string, domainVerdict: DomainVerdict | undefined) => EmailVerification;

/** Refused domains that a verifier's own parser caches: few addresses have one. */
const REFUSED_DOMAINS_MAX = 4_096;

/** Creates a verifier. The caches of refused domains, its own and its parser's, only save time. */
export function createAddressVerifier(parser = createAddressParser(REFUSED_DOMAINS_MAX)): AddressVerifier {
  const meantBy = cachedSuggestions();
  return (text, domainVerdict) =>
    domainVerdict === undefined
      ? refusal(text, parser.parse(text), meantBy)
      : resultOf(text, assess(text, 0, text, domainVerdict), domainVerdict);
}

/** Returns the domain that was meant by a refused one, or null. */
type Suggestions = (domain: string) => string | null;

const SUGGESTIONS_MAX = 20_000;

/** Caches the suggestion for each domain; a full cache is cleared. */
function cachedSuggestions(): Suggestions {
  const known = new Map<string, string | null>();
  return (domain) => {
    if (domain.length > DOMAIN_LENGTH_MAX) return null;
    let meant = known.get(domain);
    if (meant === undefined) {
      meant = meantByRefused(domain);
      if (known.size >= SUGGESTIONS_MAX) known.clear();
      known.set(domain, meant);
    }
    return meant;
  };
}

function meantByRefused(domain: string): string | null {
  return suggestDomain(domain.toLowerCase(), "none");
}

/** The part of a verification that differs among the addresses of a domain. */
type Assessment = {
  readonly role: boolean;
  readonly gibberish: number;
  readonly verdict: LocalVerdict;
  readonly normalized: string;
  /** Whether neither the text nor its key needs escapes in JSON. */
  readonly isPlain: boolean;
};

/** Assesses `text`, which begins at `start` of `source`, without the white space around it. */
function assess(source: string, start: number, text: string, domainVerdict: DomainVerdict): Assessment {
  if (!mayBePadded(source, start, start + text.length))
    return assessAddress(source, start, text, domainVerdict);
  const address = trimmed(text);
  return { ...assessAddress(address, 0, address, domainVerdict), isPlain: false };
}

/** Assesses an address without white space around it. An ASCII address is read in its source, without slices. */
function assessAddress(
  source: string,
  start: number,
  address: string,
  domainVerdict: DomainVerdict,
): Assessment {
  const at = source.indexOf("@", start);
  const localMarks = marksIn(source, start, at);
  const domainMarks = marksIn(source, at + 1, start + address.length);
  const isWide = (localMarks & NOT_ASCII) !== 0;
  const local = isWide ? localPartIn(address) : source;
  const localStart = isWide ? 0 : start;
  const localEnd = isWide ? local.length : at;
  const role = isRoleIn(local, localStart, localEnd);
  const gibberish = gibberishOf(local, localStart, localEnd, domainVerdict.provider);
  return {
    role,
    gibberish,
    verdict: verdictOn(domainVerdict.verdicts, role, gibberish),
    normalized: keyOfAddress(address, at - start, localMarks, domainMarks, domainVerdict),
    isPlain: ((localMarks | domainMarks) & (NOT_ASCII | ESCAPED)) === 0,
  };
}

function resultOf(
  text: string,
  { role, gibberish, verdict, normalized }: Assessment,
  domainVerdict: DomainVerdict,
): EmailVerification {
  const { suggestion } = domainVerdict;
  return {
    email: text,
    status: verdict.status,
    sub_status: verdict.sub_status,
    score: verdict.score,
    normalized,
    has_mx: domainVerdict.hasMx,
    mx_hosts: domainVerdict.mxHosts,
    is_disposable: domainVerdict.isDisposable,
    is_role: role,
    is_free_provider: domainVerdict.isFreeProvider,
    gibberish_score: gibberish,
    did_you_mean: suggestion === null ? null : `${localPartIn(trimmed(text))}@${suggestion}`,
    reasons: verdict.reasons,
  };
}

/** A serialised verification, with the fields that a batch counts. */
export type WrittenVerification = Pick<EmailVerification, "status" | "sub_status"> & {
  readonly json: string;
};

/**
 * Returns what `JSON.stringify` returns for the verifier's result on the address in source[start, end), in less time
 * where the verdict has a frame.
 */
export function writeVerificationIn(
  source: string,
  start: number,
  end: number,
  domainVerdict: DomainVerdict,
): WrittenVerification {
  const text = source.slice(start, end);
  const assessment = assess(source, start, text, domainVerdict);
  const { verdict, normalized, gibberish, isPlain } = assessment;
  const { status, sub_status } = verdict;
  const frame =
    isPlain && domainVerdict.suggestion === null ? frameFor(text, assessment, domainVerdict) : null;
  const json =
    frame !== null
      ? fillFrame(frame, text, normalized, gibberish)
      : JSON.stringify(resultOf(text, assessment, domainVerdict));
  return { json, status, sub_status };
}

function frameFor(
  text: string,
  assessment: Assessment,
  domainVerdict: DomainVerdict,
): VerificationFrame | null {
  const { verdict } = assessment;
  if (verdict.frame === "not_made_yet") verdict.frame = frameOf(resultOf(text, assessment, domainVerdict));
  return verdict.frame;
}

/**
 * Returns the gibberish score; 0 at relays, which make local parts up themselves, and for digits alone at providers where
 * these are phone or account numbers.
 */
function gibberishOf(text: string, start: number, end: number, provider: Provider | undefined): number {
  if (provider?.kind === "relay") return 0;
  const isNumber = provider?.numericNames === true && /^\d+$/.test(text.slice(start, end));
  return isNumber ? 0 : gibberishScoreIn(text, start, end);
}

/** Returns the result for a refused address. */
function refusal(text: string, address: ParsedAddress, meantBy: Suggestions): EmailVerification {
  if (address.ok) throw new Error("no verdict on the domain of an address to verify");
  const { subStatus, reason, local, domain } = address;
  const isReadable = subStatus !== "invalid_syntax" && local !== null && domain !== null;
  const meant = local === null || domain === null ? null : meantBy(domain);
  return {
    email: text,
    status: "undeliverable",
    sub_status: subStatus,
    score: 0,
    normalized: isReadable
      ? normalizedAddress(local, domain, normalisationRuleOf(providerOf(domain), []))
      : "",
    has_mx: false,
    mx_hosts: [],
    is_disposable: false,
    is_role: isReadable && isRole(local),
    is_free_provider: false,
    gibberish_score: isReadable ? gibberishScore(local) : 0,
    did_you_mean: meant === null ? null : `${unquoted(local ?? "", domain ?? "")}@${asWritten(meant, text)}`,
    reasons: meant === null ? [reason] : [reason, "possible_typo"],
  };
}

/** Returns a domain in the letters of the address that it is suggested for: in U-labels where that has them. */
function asWritten(meant: string, text: string): string {
  return NOT_ASCII_TEXT.test(text) ? domainToUnicode(meant) : meant;
}

const NOT_ASCII_TEXT = /[^\0-\x7f]/;

/** Returns the local part without its leading quote where the domain has a trailing one. */
function unquoted(local: string, domain: string): string {
  return local.length > 1 && QUOTE_FIRST.test(local) && QUOTE_LAST.test(domain) ? local.slice(1) : local;
}

const QUOTE_FIRST = /^['`\u2018-\u201e\u00ab\u00bb\u2039\u203a]/;
const QUOTE_LAST = /['`\u2018-\u201e\u00ab\u00bb\u2039\u203a]$/;

/** Returns the result of a check that failed, which says nothing about the address and is not charged. */
export function checkFailed(text: string): EmailVerification {
  return {
    email: text,
    status: "unknown",
    sub_status: "check_failed",
    score: 20,
    normalized: "",
    has_mx: false,
    mx_hosts: [],
    is_disposable: false,
    is_role: false,
    is_free_provider: false,
    gibberish_score: 0,
    did_you_mean: null,
    reasons: ["check_failed"],
  };
}
