/** The domain of an address: letters, digits and hyphens after conversion (RFC 5890), under a TLD of the root zone. */
import { domainToASCII, domainToUnicode } from "node:url";
import { parse as parseHost } from "tldts";
import type { SyntaxFault } from "../../contract/words.ts";
import { asciiTable } from "./ascii-table.ts";
import { hasULabels } from "./idn-label.ts";

/** The parsed domain of an address: accepted, or refused with the reason. */
export type MailDomain =
  | { readonly ok: true; readonly name: string }
  | ({ readonly ok: false; readonly name: string } & DomainRefusal);

/** Why a domain is refused whatever the DNS answers. */
export type DomainRefusal =
  | { readonly subStatus: "invalid_syntax"; readonly reason: SyntaxFault }
  | { readonly subStatus: "invalid_tld"; readonly reason: "invalid_tld" }
  | { readonly subStatus: "reserved_domain"; readonly reason: "reserved_domain" };

/** Limits of RFC 1035, 2.3.4, in octets. */
const DOMAIN_OCTETS_MAX = 253;
const LABEL_OCTETS_MAX = 63;

/** Special-use TLDs, which have no mail: RFC 6761, 6762 (local), 7686 (onion), 9476 (alt), 3172 (arpa). */
const RESERVED_TLDS: ReadonlySet<string> = new Set([
  "alt",
  "arpa",
  "example",
  "invalid",
  "local",
  "localhost",
  "onion",
  "test",
]);

const DOT = 0x2e;
const AT = 0x40;
const HYPHEN = 0x2d;

const LETTER = 1;
const DIGIT = 2;
const UPPER = 3;

const HOST_CHARACTERS = asciiTable("abcdefghijklmnopqrstuvwxyz", LETTER);
HOST_CHARACTERS.set(asciiTable("0123456789", DIGIT).subarray(0x30, 0x3a), 0x30);
HOST_CHARACTERS.set(asciiTable("ABCDEFGHIJKLMNOPQRSTUVWXYZ", UPPER).subarray(0x41, 0x5b), 0x41);

/**
 * Parses the domain of an address. A name that is not ASCII is mapped and converted (UTS 46), and its labels are
 * checked afterwards, because the conversion lets empty labels, leading and trailing hyphens and underscores pass.
 */
export function parseDomain(raw: string): MailDomain {
  if (raw.length === 0) return refusedDomain("domain_empty", raw);
  let upper = false;
  let convert = false;
  for (let at = 0; at < raw.length; at++) {
    const code = raw.charCodeAt(at);
    if (code > 127) convert = true;
    else if (code === DOT || code === HYPHEN) convert ||= code === HYPHEN && endsAcePrefix(raw, at);
    else {
      const mark = HOST_CHARACTERS[code];
      if (mark === 0) return refusedDomain(hostFault(raw, code), raw);
      if (mark === UPPER) upper = true;
    }
  }
  const lower = upper ? raw.toLowerCase() : raw;
  return convert ? convertDomain(lower) : checkLabels(lower);
}

/** Returns whether the hyphen at `at` ends the prefix `xn--` of a label. */
function endsAcePrefix(raw: string, at: number): boolean {
  return (
    at >= 3 &&
    raw.slice(at - 3, at).toLowerCase() === "xn-" &&
    (at === 3 || !isHostCode(raw.charCodeAt(at - 4)))
  );
}

function isHostCode(code: number): boolean {
  return code === HYPHEN || (code < 128 && HOST_CHARACTERS[code] !== 0);
}

function hostFault(raw: string, code: number): SyntaxFault {
  if (raw.charCodeAt(0) === 0x5b) return "domain_literal";
  if (code === AT) return "at_sign_repeated";
  if (code === 0x28 || code === 0x29) return "comment";
  if (code === 0x5f) return "domain_underscore";
  if (code === 0x20) return "domain_space";
  return code < 0x20 || code === 0x7f ? "domain_control_character" : "domain_forbidden_character";
}

const IDEOGRAPHIC_DOTS = /[\u3002\uff0e\uff61]/g;
/** A pictograph with the selector of its presentation, which keyboards add to emoji and the conversion drops. */
const PRESENTED = /(\p{Extended_Pictographic})[\ufe0e\ufe0f]/gu;
/** Code points that the conversion drops silently; for the two joiners it has rules of its own. */
const DROPPED = /(?![\u200c\u200d])[\p{Default_Ignorable_Code_Point}\p{Cf}]/u;

function convertDomain(written: string): MailDomain {
  const lower = written.replace(IDEOGRAPHIC_DOTS, ".").replace(PRESENTED, "$1");
  if (/\p{Cc}/u.test(lower)) return refusedDomain("domain_control_character", lower);
  if (/\p{Z}/u.test(lower)) return refusedDomain("domain_space", lower);
  if (DROPPED.test(lower)) return refusedDomain("domain_format_character", lower);
  const fault = edgeFault(lower);
  if (fault !== null) return refusedDomain(fault, lower);
  const ascii = domainToASCII(lower);
  if (ascii === "") return refusedDomain(idnFault(lower), lower);
  const hyphenFault = HIDES_HYPHEN.test(ascii) ? hiddenHyphenFault(domainToUnicode(ascii)) : null;
  if (hyphenFault !== null) return refusedDomain(hyphenFault, lower);
  // The conversion also completes `1.2` to an IPv4 address.
  if (isIpv4(ascii)) return checkLabels(lower.normalize("NFKC"));
  for (let at = 0; at < ascii.length; at++) {
    if (!isHostCode(ascii.charCodeAt(at)) && ascii.charCodeAt(at) !== DOT) {
      return refusedDomain(hostFault(ascii, ascii.charCodeAt(at)), lower);
    }
  }
  // A name that is written in A-labels throughout is looked up as it is (RFC 5891, 5.4).
  const isUnicode = Buffer.byteLength(lower) > lower.length;
  if (isUnicode && !hasULabels(lower === lower.normalize("NFKC") ? lower : domainToUnicode(ascii))) {
    return refusedDomain("domain_idn_invalid", lower);
  }
  return checkLabels(ascii);
}

/** Returns why the conversion failed, which gives no reason: an invalid label, a long one, or a numeric TLD. */
function idnFault(lower: string): SyntaxFault {
  const labels = lower.normalize("NFKC").split(".");
  if (/^\d+$/.test(labels.at(-1) ?? "")) return "domain_tld_numeric";
  return labels.some((label) => label.length > LABEL_OCTETS_MAX)
    ? "domain_label_too_long"
    : "domain_idn_invalid";
}

/** A-labels with hyphens in their U-label: Punycode has the ASCII characters first, then one hyphen as delimiter. */
const HIDES_HYPHEN = /xn--[^.]*-[^.]*-/;

/** Returns the fault of hyphens in U-labels (RFC 5891, 4.2.3.1), which A-labels hide and the conversion lets pass. */
function hiddenHyphenFault(unicode: string): SyntaxFault | null {
  for (const label of unicode.split(".")) {
    const characters = [...label];
    if (characters[2] === "-" && characters[3] === "-") return "domain_label_reserved";
    if (label.startsWith("-") || label.endsWith("-")) return "domain_idn_invalid";
  }
  return null;
}

function checkLabels(domain: string): MailDomain {
  const fault = edgeFault(domain) ?? labelFault(domain);
  if (fault !== null) return refusedDomain(fault, domain);
  const tld = domain.slice(domain.lastIndexOf(".") + 1);
  if (isDigits(tld))
    return refusedDomain(isIpv4(domain) ? "domain_ip_address" : "domain_tld_numeric", domain);
  if (RESERVED_TLDS.has(tld)) {
    return { ok: false, subStatus: "reserved_domain", reason: "reserved_domain", name: domain };
  }
  if (!isInternetName(domain, tld))
    return { ok: false, subStatus: "invalid_tld", reason: "invalid_tld", name: domain };
  return { ok: true, name: domain };
}

/** Returns the fault of dots, or of hyphens at the edges of labels, in one pass. */
function edgeFault(domain: string): SyntaxFault | null {
  let before = DOT;
  let dots = 0;
  for (let at = 0; at < domain.length; at++) {
    const code = domain.charCodeAt(at);
    if (code === DOT) {
      if (before === DOT) return at === 0 ? "domain_dot_leading" : "domain_dot_dot";
      if (before === HYPHEN) return "domain_hyphen_trailing";
      dots++;
    } else if (code === HYPHEN && before === DOT) return "domain_hyphen_leading";
    before = code;
  }
  if (before === DOT) return "domain_dot_trailing";
  if (before === HYPHEN) return "domain_hyphen_trailing";
  return dots === 0 ? "domain_dotless" : null;
}

/** Returns the fault of a label that is too long, or has `--` in third place, which RFC 5890 reserves for `xn--`. */
function labelFault(domain: string): SyntaxFault | null {
  for (let start = 0; start < domain.length; ) {
    const dot = domain.indexOf(".", start);
    const end = dot === -1 ? domain.length : dot;
    if (end - start > LABEL_OCTETS_MAX) return "domain_label_too_long";
    if (isReserved(domain, start)) return "domain_label_reserved";
    start = end + 1;
  }
  return domain.length > DOMAIN_OCTETS_MAX ? "domain_too_long" : null;
}

function isReserved(domain: string, start: number): boolean {
  return (
    domain.charCodeAt(start + 3) === HYPHEN &&
    domain.charCodeAt(start + 2) === HYPHEN &&
    !domain.startsWith("xn", start)
  );
}

function isDigits(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x30 || code > 0x39) return false;
  }
  return text.length > 0;
}

function isIpv4(domain: string): boolean {
  const labels = domain.split(".");
  return (
    labels.length === 4 &&
    labels.every((label) => isDigits(label) && label.length <= 3 && Number(label) < 256)
  );
}

const ICANN_ONLY = {
  allowPrivateDomains: false,
  extractHostname: false,
  validateHostname: false,
  detectIp: false,
  mixedInputs: false,
} as const;

/**
 * Returns whether the TLD is in the root zone, by the ICANN section of the public suffix list. A TLD without a rule of
 * its own (`za`) is recognised by its second-level ones.
 */
function isInternetName(domain: string, tld: string): boolean {
  return parseHost(domain, ICANN_ONLY).isIcann === true || isIcannTld(tld);
}

export function isIcannTld(tld: string): boolean {
  return (
    parseHost(`a.${tld}`, ICANN_ONLY).isIcann === true ||
    parseHost(`a.co.${tld}`, ICANN_ONLY).isIcann === true
  );
}

function refusedDomain(reason: SyntaxFault, name: string): MailDomain {
  return { ok: false, subStatus: "invalid_syntax", reason, name };
}
