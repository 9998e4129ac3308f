import type { SyntaxFault } from "../../contract/words.ts";
/**
 * Reads one address as it is written on the internet: a dot-atom local part (RFC 5321, 5322; RFC 6531 where it
 * is not ASCII), one `@`, and a domain name of letters, digits and hyphens (RFC 5890 after conversion).
 * Quoted local parts, comments and domain literals are legal in RFC 5322 and refused here, each by its name.
 */
import { ATEXT, localFault, wideLocalFault } from "./local-part.ts";
import { type DomainRefusal, type MailDomain, parseDomain } from "./mail-domain.ts";

export type ParsedAddress = AcceptedAddress | RefusedAddress;

export type AcceptedAddress = {
  readonly ok: true;
  /** As written, in NFC. */
  readonly local: string;
  /** The A-label form in lower case: the name to ask the DNS for. */
  readonly domain: string;
};

/** An address that is refused whatever the DNS answers. */
export type RefusedAddress = {
  readonly ok: false;
  readonly subStatus: DomainRefusal["subStatus"];
  readonly reason: DomainRefusal["reason"];
  /** Both present where the local part is sound and only the domain is at fault; the domain in lower case. */
  readonly local: string | null;
  readonly domain: string | null;
};

/** Limits of RFC 5321, 4.5.3.1, in octets; the total leaves the two angle brackets of the path out. */
const ADDRESS_OCTETS_MAX = 254;
const LOCAL_OCTETS_MAX = 64;
/** Of a text as it is given, in UTF-8, with the white space around it. A longer one is not looked at. */
const TEXT_OCTETS_MAX = 320;
/** A UTF-16 unit takes at most this many octets of UTF-8. */
const OCTETS_PER_UNIT_MAX = 3;
/** Longer domains are not remembered: hardly one of them is accepted. */
const RAW_DOMAIN_UNITS_MAX = 256;

const DOT = 0x2e;
const AT = 0x40;

/** Reads an address; white space around it is left out. Time is linear, and constant beyond 320 octets. */
export function parseAddress(text: string): ParsedAddress {
  return parseWith(text, parseRest);
}

/**
 * Returns the domain to look up before the address can be verified, in A-label form and lower case, or null where it is
 * refused whatever the DNS says. The same decision as `parseAddress`.
 */
export function mailDomainOf(text: string): string | null {
  return domainOf(text, 0, text.length, parseRest);
}

/** Returns the local part, in NFC, of an address without white space around it. */
export function localPartIn(address: string): string {
  return address.slice(0, address.indexOf("@")).normalize("NFC");
}

export type AddressParser = {
  readonly parse: (text: string) => ParsedAddress;
  readonly mailDomainOf: (text: string) => string | null;
  /** The same for the address in source[start, end). */
  readonly mailDomainIn: (source: string, start: number, end: number) => string | null;
};

/** Creates a parser that remembers domains by their raw text, about `domainsMax` of them. */
export function createAddressParser(domainsMax = 65_536): AddressParser {
  const domainIn = rememberedDomains(domainsMax);
  return {
    parse: (text) => parseWith(text, domainIn),
    mailDomainOf: (text) => domainOf(text, 0, text.length, domainIn),
    mailDomainIn: (source, start, end) => domainOf(source, start, end, domainIn),
  };
}

/** Reads the domain in source[start, end). */
type DomainIn = (source: string, start: number, end: number) => MailDomain;

const parseRest: DomainIn = (source, start, end) => parseDomain(source.slice(start, end));

/**
 * Remembers domains in a direct-mapped cache, by a sum over their characters: nothing is sliced out of the address for a
 * domain met before, and no choice of names makes a look-up longer.
 */
function rememberedDomains(slotsMin: number): DomainIn {
  const mask = 2 ** Math.ceil(Math.log2(slotsMin)) - 1;
  const raws: (string | undefined)[] = new Array(mask + 1);
  const domains: MailDomain[] = new Array(mask + 1);
  return (source, start, end) => {
    let sum = 0;
    for (let at = start; at < end; at++) sum = (Math.imul(sum, 31) + source.charCodeAt(at)) | 0;
    const slot = (sum ^ (sum >>> 15)) & mask;
    const raw = raws[slot];
    const found = domains[slot];
    if (found && raw?.length === end - start && source.startsWith(raw, start)) return found;
    const slice = source.slice(start, end);
    if (slice.length > RAW_DOMAIN_UNITS_MAX) return parseDomain(slice);
    // A copy: a slice keeps all of its source in memory, and that may be a line of a large body.
    const copy: string = JSON.parse(JSON.stringify(slice));
    const domain = parseDomain(copy);
    raws[slot] = copy;
    domains[slot] = domain;
    return domain;
  };
}

/** `parseAddress` with the reading of the domain as an argument, for a caller that remembers domains. */
function parseWith(text: string, domainIn: DomainIn): ParsedAddress {
  if (isTooLong(text, 0, text.length)) return refused("address_too_long");
  const address = trimmed(text);
  const domain = readDomain(address, 0, address.length, domainIn);
  if (typeof domain === "string") return refused(domain);
  const local = localPartIn(address);
  return domain.ok
    ? { ok: true, local, domain: domain.name }
    : { ok: false, subStatus: domain.subStatus, reason: domain.reason, local, domain: domain.name };
}

function domainOf(source: string, start: number, end: number, domainIn: DomainIn): string | null {
  if (isTooLong(source, start, end)) return null;
  if (mayBePadded(source, start, end)) {
    const address = trimmed(source.slice(start, end));
    return acceptedName(readDomain(address, 0, address.length, domainIn));
  }
  return acceptedName(readDomain(source, start, end, domainIn));
}

function acceptedName(domain: MailDomain | SyntaxFault): string | null {
  return typeof domain !== "string" && domain.ok ? domain.name : null;
}

/** Returns whether source[start, end) takes more than `TEXT_OCTETS_MAX` octets. */
function isTooLong(source: string, start: number, end: number): boolean {
  if ((end - start) * OCTETS_PER_UNIT_MAX <= TEXT_OCTETS_MAX) return false;
  return end - start > TEXT_OCTETS_MAX || Buffer.byteLength(source.slice(start, end)) > TEXT_OCTETS_MAX;
}

/** Returns a text without the white space around it; what is too long to be an address is left as it is. */
export function trimmed(text: string): string {
  return text.length > TEXT_OCTETS_MAX ? text : text.trim();
}

/** Returns whether there may be white space around text[start, end); false is certain. */
export function mayBePadded(text: string, start: number, end: number): boolean {
  return !isVisibleAscii(text.charCodeAt(start)) || !isVisibleAscii(text.charCodeAt(end - 1));
}

function isVisibleAscii(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}

/**
 * Returns the domain of the address in source[start, end), without white space around it: accepted or refused, or the
 * fault of what is before it.
 */
function readDomain(
  source: string,
  start: number,
  end: number,
  domainIn: DomainIn,
): MailDomain | SyntaxFault {
  if (end === start) return "empty";
  let afterDot = true;
  let wide = false;
  let at = start;
  for (; at < end; at++) {
    const code = source.charCodeAt(at);
    if (code === AT) break;
    if (code > 127) wide = true;
    else if (code === DOT ? afterDot : ATEXT[code] === 0) {
      return localFault(source.slice(start, end), at - start);
    }
    afterDot = code === DOT;
  }
  if (at === end) return "at_sign_missing";
  if (at === start) return "local_empty";
  if (afterDot) return "local_dot_trailing";
  let localOctets = at - start;
  if (wide) {
    const local = localPartIn(source.slice(start, end));
    const fault = wideLocalFault(local);
    if (fault !== null) return fault;
    localOctets = Buffer.byteLength(local);
  }
  if (localOctets > LOCAL_OCTETS_MAX) return "local_too_long";
  const domain = domainIn(source, at + 1, end);
  if (localOctets + 1 + domain.name.length <= ADDRESS_OCTETS_MAX) return domain;
  // The length is a fault of syntax, which comes before a top-level domain that does not exist.
  return domain.ok || domain.subStatus !== "invalid_syntax" ? "address_too_long" : domain;
}

function refused(reason: SyntaxFault): RefusedAddress {
  return { ok: false, subStatus: "invalid_syntax", reason, local: null, domain: null };
}
