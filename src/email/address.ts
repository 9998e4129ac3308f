/**
 * Reads one address as it is written on the internet: a dot-atom local part (RFC 5321, 5322; RFC 6531 where it
 * is not ASCII), one `@`, and a domain name of letters, digits and hyphens (RFC 5890 after conversion).
 * Quoted local parts, comments and domain literals are legal in RFC 5322 and refused here, each by its name.
 */
import { ATEXT, localFault, wideLocalFault } from "./local-part.ts";
import { type DomainRefusal, type MailDomain, parseDomain } from "./mail-domain.ts";
import type { SyntaxFault } from "./syntax-fault.ts";

export type ParsedAddress = AcceptedAddress | RefusedAddress;

export type AcceptedAddress = {
  readonly ok: true;
  /** As written, in NFC. */
  readonly local: string;
  /** The A-label form in lower case: the name to ask the DNS for. */
  readonly domain: string;
};

/** An address that no DNS answer could save. */
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
/** Beyond this no conversion can bring a text back under the limits, so it is not looked at. */
const ADDRESS_UNITS_MAX = 1_024;
/** With the white space around it. */
const TEXT_UNITS_MAX = 8_192;

const DOT = 0x2e;
const AT = 0x40;

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
function parseWith(text: string, domainOf: (raw: string) => MailDomain): ParsedAddress {
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
  return { ok: true, local, domain: domain.name };
}

function refused(reason: SyntaxFault): RefusedAddress {
  return { ok: false, subStatus: "invalid_syntax", reason, local: null, domain: null };
}
