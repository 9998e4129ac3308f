/**
 * Parses an address of internet mail: a dot-atom local part (RFC 5321, 5322; RFC 6531 where it is not ASCII), one `@`,
 * and a domain name of letters, digits and hyphens (RFC 5890 after conversion). Quoted local parts, comments and domain
 * literals, which RFC 5322 allows, are refused, each with a reason of its own.
 */
import type { SyntaxFault } from "../../contract/words.ts";
import { ATEXT, localFault, wideLocalFault } from "./local-part.ts";
import { type DomainRefusal, type MailDomain, parseDomain } from "./mail-domain.ts";

export type ParsedAddress = AcceptedAddress | RefusedAddress;

export type AcceptedAddress = {
  readonly ok: true;
  /** As written, in NFC. */
  readonly local: string;
  /** In A-labels and lower case, as it is looked up. */
  readonly domain: string;
};

/** An address that is refused whatever the DNS answers. */
export type RefusedAddress = {
  readonly ok: false;
  readonly subStatus: DomainRefusal["subStatus"];
  readonly reason: DomainRefusal["reason"];
  /** Both present where the local part is valid and only the domain is not; the domain in lower case. */
  readonly local: string | null;
  readonly domain: string | null;
};

/** Limits of RFC 5321, 4.5.3.1, in octets: a path of 256 less its two angle brackets, and a local part. */
const ADDRESS_OCTETS_MAX = 254;
const LOCAL_OCTETS_MAX = 64;
/** Octets of an input in UTF-8, with the white space around it. A longer one is refused unread. */
const TEXT_OCTETS_MAX = 320;
/** The most octets of UTF-8 that a UTF-16 code unit takes. */
const OCTETS_PER_UNIT_MAX = 3;
/** Longer domains are not cached: hardly any of them is accepted. */
const RAW_DOMAIN_UNITS_MAX = 256;

const DOT = 0x2e;
const AT = 0x40;

/** Parses an address without the white space around it. Takes linear time, and constant time beyond 320 octets. */
export function parseAddress(text: string): ParsedAddress {
  return parseWith(text, parseUncached);
}

/**
 * Returns the domain of an address, which is looked up to verify it, in A-labels and lower case; null for an address
 * that `parseAddress` refuses.
 */
export function mailDomainOf(text: string): string | null {
  return domainOf(text, 0, text.length, parseUncached);
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

/** Creates a parser with a cache of domains by their raw text: `domainsMax`, rounded up to a power of two. */
export function createAddressParser(domainsMax = 65_536): AddressParser {
  const domainIn = cachedDomains(domainsMax);
  return {
    parse: (text) => parseWith(text, domainIn),
    mailDomainOf: (text) => domainOf(text, 0, text.length, domainIn),
    mailDomainIn: (source, start, end) => domainOf(source, start, end, domainIn),
  };
}

/** Parses the domain in source[start, end). */
type DomainIn = (source: string, start: number, end: number) => MailDomain;

const parseUncached: DomainIn = (source, start, end) => parseDomain(source.slice(start, end));

/**
 * Caches domains in a direct-mapped table, by a hash of their characters: a cached domain is found without slicing the
 * address, and no choice of names makes a look-up longer.
 */
function cachedDomains(slotsMin: number): DomainIn {
  const mask = 2 ** Math.ceil(Math.log2(slotsMin)) - 1;
  const raws: (string | undefined)[] = new Array(mask + 1);
  const domains: MailDomain[] = new Array(mask + 1);
  return (source, start, end) => {
    let hash = 0;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + source.charCodeAt(at)) | 0;
    const slot = (hash ^ (hash >>> 15)) & mask;
    const raw = raws[slot];
    const found = domains[slot];
    if (found && raw?.length === end - start && source.startsWith(raw, start)) return found;
    const slice = source.slice(start, end);
    if (slice.length > RAW_DOMAIN_UNITS_MAX) return parseDomain(slice);
    // A slice would keep its whole source in memory, which may be a large body: a copy is cached.
    const copy: string = JSON.parse(JSON.stringify(slice));
    const domain = parseDomain(copy);
    raws[slot] = copy;
    domains[slot] = domain;
    return domain;
  };
}

/** Parses as `parseAddress` does, with the parser of the domain as an argument. */
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

/** Returns a text without the white space around it; one that is too long for an address as it is. */
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
 * Parses the address in source[start, end), which has no white space around it. Returns its domain, accepted or
 * refused, or the syntax fault before it.
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
  // The length is a fault of syntax, which takes precedence over a TLD that is invalid or reserved.
  return domain.ok || domain.subStatus !== "invalid_syntax" ? "address_too_long" : domain;
}

function refused(reason: SyntaxFault): RefusedAddress {
  return { ok: false, subStatus: "invalid_syntax", reason, local: null, domain: null };
}
