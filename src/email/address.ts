/**
 * Reads one address as it is written on the internet: a dot-atom local part (RFC 5321, 5322; RFC 6531 where it
 * is not ASCII), one `@`, and a domain name of letters, digits and hyphens (RFC 5890 after conversion).
 * Quoted local parts, comments and domain literals are legal in RFC 5322 and refused here, each by its name.
 */
import { domainToASCII, domainToUnicode } from "node:url";
import { parse as parseHost } from "tldts";

/** What can be wrong with an address, each fault with its own word. All of them mean `invalid_syntax`. */
export const SYNTAX_FAULTS = [
  "empty",
  "address_too_long",
  "at_sign_missing",
  "at_sign_repeated",
  "display_name",
  "comment",
  "local_empty",
  "local_too_long",
  "local_dot_leading",
  "local_dot_trailing",
  "local_dot_dot",
  "local_quoted",
  "local_space",
  "local_control_character",
  "local_format_character",
  "local_unassigned_character",
  "local_private_use_character",
  "local_lone_surrogate",
  "local_mark_leading",
  "local_forbidden_character",
  "domain_empty",
  "domain_too_long",
  "domain_dotless",
  "domain_dot_leading",
  "domain_dot_trailing",
  "domain_dot_dot",
  "domain_label_too_long",
  "domain_hyphen_leading",
  "domain_hyphen_trailing",
  "domain_underscore",
  "domain_literal",
  "domain_ip_address",
  "domain_tld_numeric",
  "domain_space",
  "domain_control_character",
  "domain_format_character",
  "domain_forbidden_character",
  "domain_idn_invalid",
] as const;

export type SyntaxFault = (typeof SYNTAX_FAULTS)[number];

export type ParsedAddress = AcceptedAddress | RefusedAddress;

export type AcceptedAddress = {
  readonly ok: true;
  /** As written, in NFC. */
  readonly local: string;
  /** The A-label form in lower case: the name to ask the DNS for. */
  readonly domain: string;
  readonly unicodeDomain: string;
};

/** An address that no DNS answer could save. */
export type RefusedAddress = {
  readonly ok: false;
  readonly subStatus: "invalid_syntax" | "invalid_tld" | "reserved_domain";
  readonly reason: SyntaxFault | "invalid_tld" | "reserved_domain";
  /** Both present where the local part is sound and only the domain is at fault; the domain in lower case. */
  readonly local: string | null;
  readonly domain: string | null;
};

/** A domain as read from an address: usable, or refused with the reason. */
export type MailDomain =
  | { readonly ok: true; readonly name: string; readonly unicode: string }
  | {
      readonly ok: false;
      readonly subStatus: RefusedAddress["subStatus"];
      readonly reason: RefusedAddress["reason"];
      readonly name: string;
    };

/** Limits of RFC 5321, 4.5.3.1, in octets; the total leaves the two angle brackets of the path out. */
const ADDRESS_OCTETS_MAX = 254;
const LOCAL_OCTETS_MAX = 64;
const DOMAIN_OCTETS_MAX = 253;
const LABEL_OCTETS_MAX = 63;
/** Beyond this no conversion can bring a text back under the limits, so it is not looked at. */
const ADDRESS_UNITS_MAX = 1_024;
/** With the white space around it. */
const TEXT_UNITS_MAX = 8_192;

/** Names that the DNS never answers for: RFC 6761, 6762 (local), 7686 (onion), 9476 (alt), 3172 (arpa). */
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

/** RFC 5322 atext, by character code. */
const ATEXT = asciiTable(
  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-/=?^_`{|}~",
  1,
);
const HOST_CHARACTERS = asciiTable("abcdefghijklmnopqrstuvwxyz", LETTER);
HOST_CHARACTERS.set(asciiTable("0123456789", DIGIT).subarray(0x30, 0x3a), 0x30);
HOST_CHARACTERS.set(asciiTable("ABCDEFGHIJKLMNOPQRSTUVWXYZ", UPPER).subarray(0x41, 0x5b), 0x41);

function asciiTable(characters: string, mark: number): Uint8Array {
  const table = new Uint8Array(128);
  for (let at = 0; at < characters.length; at++) table[characters.charCodeAt(at)] = mark;
  return table;
}

/** Reads an address; white space around it is left out. Time is linear, and constant beyond 8,192 characters. */
export function parseAddress(text: string): ParsedAddress {
  return parseWith(text, parseDomain);
}

/**
 * The domain to look up before the address can be judged, in A-label form and lower case, or null where it is
 * refused whatever the DNS says. The same decision as `parseAddress`.
 */
export function mailDomainOf(text: string): string | null {
  const address = parseWith(text, parseDomain);
  return address.ok ? address.domain : null;
}

export type AddressParser = {
  readonly parse: (text: string) => ParsedAddress;
  readonly mailDomainOf: (text: string) => string | null;
};

/** A parser that remembers up to `domainsMax` domains by their raw text; it forgets all of them when full. */
export function createAddressParser(domainsMax = 20_000): AddressParser {
  const known = new Map<string, MailDomain>();
  const domainOf = (raw: string): MailDomain => {
    let domain = known.get(raw);
    if (domain === undefined) {
      domain = parseDomain(raw);
      if (known.size >= domainsMax) known.clear();
      known.set(raw, domain);
    }
    return domain;
  };
  return {
    parse: (text) => parseWith(text, domainOf),
    mailDomainOf: (text) => {
      const address = parseWith(text, domainOf);
      return address.ok ? address.domain : null;
    },
  };
}

/** `parseAddress` with the reading of the domain handed in, for a caller that remembers domains. */
export function parseWith(text: string, domainOf: (raw: string) => MailDomain): ParsedAddress {
  if (text.length > TEXT_UNITS_MAX) return refused("address_too_long");
  const address = text.trim();
  const end = address.length;
  if (end === 0) return refused("empty");
  if (end > ADDRESS_UNITS_MAX) return refused("address_too_long");
  let afterDot = true;
  let wide = false;
  let at = 0;
  for (; at < end; at++) {
    const code = address.charCodeAt(at);
    if (code === AT) break;
    if (code > 127) wide = true;
    else if (code === DOT ? afterDot : ATEXT[code] === 0) return refused(localFault(address, at));
    afterDot = code === DOT;
  }
  if (at === end) return refused("at_sign_missing");
  if (at === 0) return refused("local_empty");
  if (afterDot) return refused("local_dot_trailing");
  let local = address.slice(0, at);
  let localOctets = at;
  if (wide) {
    local = local.normalize("NFC");
    const fault = wideLocalFault(local);
    if (fault !== null) return refused(fault);
    localOctets = Buffer.byteLength(local);
  }
  if (localOctets > LOCAL_OCTETS_MAX) return refused("local_too_long");
  const domain = domainOf(address.slice(at + 1));
  if (!domain.ok)
    return { ok: false, subStatus: domain.subStatus, reason: domain.reason, local, domain: domain.name };
  if (localOctets + 1 + domain.name.length > ADDRESS_OCTETS_MAX) return refused("address_too_long");
  return { ok: true, local, domain: domain.name, unicodeDomain: domain.unicode };
}

function refused(reason: SyntaxFault): RefusedAddress {
  return { ok: false, subStatus: "invalid_syntax", reason, local: null, domain: null };
}

/** Names the fault of an address whose local part breaks off at a character that cannot stand there. */
function localFault(address: string, position: number): SyntaxFault {
  if (!address.includes("@")) return "at_sign_missing";
  if (address.endsWith(">") && address.includes("<")) return "display_name";
  const character = address.charAt(position);
  if (character === ".") return position === 0 ? "local_dot_leading" : "local_dot_dot";
  if (character === '"' && position === 0) return "local_quoted";
  if (character === "(" || character === ")") return "comment";
  if (character === " ") return "local_space";
  const code = address.charCodeAt(position);
  return code < 0x20 || code === 0x7f ? "local_control_character" : "local_forbidden_character";
}

const PLAIN_WIDE = /^[\p{L}\p{N}\p{P}\p{S}\p{M}]*$/u;

/** RFC 6531 leaves the local part's characters open; what cannot be seen, typed or told apart is refused. */
function wideLocalFault(local: string): SyntaxFault | null {
  if (/^\p{M}/u.test(local)) return "local_mark_leading";
  for (const character of local) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 128) {
      if (code !== DOT && ATEXT[code] === 0) return "local_forbidden_character";
    } else if (/\p{Default_Ignorable_Code_Point}/u.test(character)) return "local_format_character";
    else if (!PLAIN_WIDE.test(character)) return wideFault(character);
  }
  return null;
}

function wideFault(character: string): SyntaxFault {
  if (/\p{Z}/u.test(character)) return "local_space";
  if (/\p{Cc}/u.test(character)) return "local_control_character";
  if (/\p{Cs}/u.test(character)) return "local_lone_surrogate";
  if (/\p{Co}/u.test(character)) return "local_private_use_character";
  if (/\p{Cf}/u.test(character)) return "local_format_character";
  return "local_unassigned_character";
}

/**
 * Reads the domain of an address. A name that is not ASCII is mapped and converted (UTS 46), and the labels are
 * checked again afterwards, because the conversion lets empty labels, hyphens at the edges and underscores pass.
 */
export function parseDomain(raw: string): MailDomain {
  if (raw.length === 0) return refusedDomain("domain_empty", raw);
  let upper = false;
  let convert = false;
  for (let at = 0; at < raw.length; at++) {
    const code = raw.charCodeAt(at);
    if (code > 127) convert = true;
    else if (code === DOT || code === HYPHEN) convert ||= code === HYPHEN && isALabelMark(raw, at);
    else {
      const mark = HOST_CHARACTERS[code];
      if (mark === 0) return refusedDomain(hostFault(raw, code), raw);
      if (mark === UPPER) upper = true;
    }
  }
  const lower = upper ? raw.toLowerCase() : raw;
  return convert ? convertDomain(lower) : checkLabels(lower, lower);
}

/** Whether the hyphen at `at` is the second of a label's `xn--`. */
function isALabelMark(raw: string, at: number): boolean {
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
/** Code points that the conversion drops without a word; the two joiners have rules of their own there. */
const DROPPED = /(?![\u200c\u200d])[\p{Default_Ignorable_Code_Point}\p{Cf}]/u;

function convertDomain(written: string): MailDomain {
  const lower = written.replace(IDEOGRAPHIC_DOTS, ".");
  if (/\p{Cc}/u.test(lower)) return refusedDomain("domain_control_character", lower);
  if (/\p{Z}/u.test(lower)) return refusedDomain("domain_space", lower);
  if (DROPPED.test(lower)) return refusedDomain("domain_format_character", lower);
  const fault = edgeFault(lower);
  if (fault !== null) return refusedDomain(fault, lower);
  const ascii = domainToASCII(lower);
  if (ascii === "") return refusedDomain(idnFault(lower), lower);
  for (let at = 0; at < ascii.length; at++) {
    if (!isHostCode(ascii.charCodeAt(at)) && ascii.charCodeAt(at) !== DOT) {
      return refusedDomain(hostFault(ascii, ascii.charCodeAt(at)), lower);
    }
  }
  return checkLabels(ascii, domainToUnicode(ascii));
}

/** The conversion answers nothing alike for bad labels, long ones, and names that end like an IPv4 address. */
function idnFault(lower: string): SyntaxFault {
  const labels = lower.split(".");
  if (/^\d+$/.test(labels.at(-1) ?? "")) return "domain_tld_numeric";
  return labels.some((label) => label.length > LABEL_OCTETS_MAX)
    ? "domain_label_too_long"
    : "domain_idn_invalid";
}

function checkLabels(domain: string, unicode: string): MailDomain {
  const fault = edgeFault(domain) ?? lengthFault(domain);
  if (fault !== null) return refusedDomain(fault, domain);
  const tld = domain.slice(domain.lastIndexOf(".") + 1);
  if (isDigits(tld))
    return refusedDomain(isIpv4(domain) ? "domain_ip_address" : "domain_tld_numeric", domain);
  if (RESERVED_TLDS.has(tld)) {
    return { ok: false, subStatus: "reserved_domain", reason: "reserved_domain", name: domain };
  }
  if (!isInternetName(domain, tld))
    return { ok: false, subStatus: "invalid_tld", reason: "invalid_tld", name: domain };
  return { ok: true, name: domain, unicode };
}

/** Faults of dots and hyphens, in one pass. */
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

function lengthFault(domain: string): SyntaxFault | null {
  for (let start = 0; start < domain.length; ) {
    const dot = domain.indexOf(".", start);
    const end = dot === -1 ? domain.length : dot;
    if (end - start > LABEL_OCTETS_MAX) return "domain_label_too_long";
    start = end + 1;
  }
  return domain.length > DOMAIN_OCTETS_MAX ? "domain_too_long" : null;
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
 * Whether the root zone has the top-level domain, by the ICANN section of the public suffix list. A top-level
 * domain without a rule of its own (`za`) shows by its second-level ones.
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
