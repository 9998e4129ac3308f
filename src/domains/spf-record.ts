/** The syntax of SPF records (RFC 7208, 4.6, 5, 6, 7 and 12). */
import { parseIpv4, parseIpv6 } from "../dns/public-address.ts";

export type SpfQualifier = "+" | "-" | "~" | "?";

/** A mechanism, as far as it causes look-ups. */
export type SpfMechanism =
  | { readonly kind: "all"; readonly qualifier: SpfQualifier }
  | { readonly kind: "include" | "exists"; readonly domain: string }
  /** `domain` is null for the domain that the record belongs to. */
  | { readonly kind: "a" | "mx" | "ptr"; readonly domain: string | null }
  | { readonly kind: "ip4" | "ip6" };

export type SpfRecord = { readonly mechanisms: readonly SpfMechanism[]; readonly redirect: string | null };

const VERSION = "v=spf1";

/** Returns whether a TXT record is an SPF record: the version, in any case, and then a space or the end. */
export function isSpf(text: string): boolean {
  return text.slice(0, VERSION.length).toLowerCase() === VERSION && (text[VERSION.length] ?? " ") === " ";
}

/** Returns whether a record is `v=spf1 -all` alone: no host sends mail for the domain. */
export function isDenyAll(text: string): boolean {
  const terms = text.split(" ").filter((term) => term !== "");
  return terms.length === 2 && terms[1]?.toLowerCase() === "-all";
}

/** Parses an SPF record; null for a syntax error anywhere in it, which is a permanent error. */
export function parseSpf(text: string): SpfRecord | null {
  const mechanisms: SpfMechanism[] = [];
  const modifiers = new Map<string, string>();
  for (const term of text.slice(VERSION.length).split(" ")) {
    if (term === "") continue;
    const modifier = /^([a-z][a-z0-9_.-]*)=(.*)$/i.exec(term);
    if (modifier === null) {
      const mechanism = parseMechanism(term);
      if (mechanism === null) return null;
      mechanisms.push(mechanism);
    } else if (!addModifier(modifiers, (modifier[1] ?? "").toLowerCase(), modifier[2] ?? "")) return null;
  }
  return { mechanisms, redirect: modifiers.get("redirect") ?? null };
}

/**
 * Adds a modifier; false for an invalid one. `redirect` and `exp` may occur once and need a domain; others need valid
 * macros only.
 */
function addModifier(modifiers: Map<string, string>, name: string, value: string): boolean {
  if (name !== "redirect" && name !== "exp") return isMacroString(value);
  if (modifiers.has(name) || !isDomainSpec(value)) return false;
  modifiers.set(name, value);
  return true;
}

function parseMechanism(term: string): SpfMechanism | null {
  const first = term[0];
  const qualified = first === "+" || first === "-" || first === "~" || first === "?";
  const qualifier: SpfQualifier = qualified ? first : "+";
  const body = qualified ? term.slice(1) : term;
  const nameEnd = body.search(/[:/]/);
  const name = (nameEnd < 0 ? body : body.slice(0, nameEnd)).toLowerCase();
  const rest = nameEnd < 0 ? "" : body.slice(nameEnd);
  switch (name) {
    case "all":
      return rest === "" ? { kind: "all", qualifier } : null;
    case "include":
    case "exists":
      return rest.startsWith(":") && isDomainSpec(rest.slice(1))
        ? { kind: name, domain: rest.slice(1) }
        : null;
    case "a":
    case "mx":
      return parseHost(name, withoutPrefixLengths(rest));
    case "ptr":
      return parseHost(name, rest);
    case "ip4":
      return rest.startsWith(":") && isNetwork(rest.slice(1), 32, parseIpv4) ? { kind: name } : null;
    case "ip6":
      return rest.startsWith(":") && isNetwork(rest.slice(1), 128, parseIpv6) ? { kind: name } : null;
    default:
      return null;
  }
}

function parseHost(kind: "a" | "mx" | "ptr", rest: string | null): SpfMechanism | null {
  if (rest === "") return { kind, domain: null };
  if (rest === null || !rest.startsWith(":") || !isDomainSpec(rest.slice(1))) return null;
  return { kind, domain: rest.slice(1) };
}

/** Removes `/24`, `//64` or `/24//64` from the end; null for a number that is too large. */
function withoutPrefixLengths(rest: string): string | null {
  let left = rest;
  const ipv6 = /\/\/(\d{1,3})$/.exec(left);
  if (ipv6 !== null) left = left.slice(0, ipv6.index);
  const ipv4 = /\/(\d{1,3})$/.exec(left);
  if (ipv4 !== null) left = left.slice(0, ipv4.index);
  return isLength(ipv6?.[1], 128) && isLength(ipv4?.[1], 32) ? left : null;
}

function isNetwork(text: string, bits: number, parse: (address: string) => unknown): boolean {
  const slash = text.indexOf("/");
  if (slash < 0) return parse(text) !== null;
  return parse(text.slice(0, slash)) !== null && isLength(text.slice(slash + 1), bits);
}

function isLength(digits: string | undefined, max: number): boolean {
  return digits === undefined || (/^(0|[1-9]\d{0,2})$/.test(digits) && Number(digits) <= max);
}

/**
 * Returns whether a text is a macro string that ends with a top label or a macro, without the macros of explanations
 * (7.2).
 */
function isDomainSpec(text: string): boolean {
  if (!isMacroString(text, MACRO)) return false;
  // No macro is longer. A record may hold 64 KB of `%%{`, from each of which a bracket would be searched to the end.
  const end = text.slice(-MACRO_CHARACTERS_MAX);
  if (/%(\{[^}]*\}|[%_-])$/.test(end)) return text.endsWith("}");
  const name = text.endsWith(".") ? text.slice(0, -1) : text;
  const dot = name.lastIndexOf(".");
  const topLabel = name.slice(dot + 1);
  return (
    dot >= 0 &&
    /^[a-z0-9-]+$/i.test(topLabel) &&
    /[a-z-]/i.test(topLabel) &&
    !topLabel.startsWith("-") &&
    !topLabel.endsWith("-")
  );
}

/** Returns whether a text is visible ASCII in which each `%` begins `%%`, `%_`, `%-` or a macro (7.1). */
function isMacroString(text: string, form: RegExp = MACRO_OF_TEXT): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x21 || code > 0x7e) return false;
    if (text[at] !== "%") continue;
    const macro = form.exec(text.slice(at, at + MACRO_CHARACTERS_MAX));
    if (macro === null) return false;
    at += macro[0].length - 1;
  }
  return true;
}

const MACRO_CHARACTERS_MAX = 16;
/** The number of parts to keep is never zero (7.3). */
const MACRO = /^%(?:[%_-]|\{([slodiphv])((?!0+\D)\d{0,3})(r?)([.\-+,/_=]{0,7})\})/i;
const MACRO_OF_TEXT = new RegExp(MACRO.source.replace("slodiphv", "slodiphvcrt"), "i");

/**
 * Expands the macros that depend on the domain alone; null for any other, such as the sender's address, which is
 * unknown before a message arrives.
 */
export function expandMacros(text: string, domain: string, sender: string): string | null {
  let expanded = "";
  for (let at = 0; at < text.length; at++) {
    const macro = text[at] === "%" ? MACRO.exec(text.slice(at, at + MACRO_CHARACTERS_MAX)) : null;
    if (macro === null) {
      expanded += text[at];
      continue;
    }
    const [whole, letter, keep, reverse, delimiters] = macro;
    const value = letter === undefined ? literal(whole) : macroValue(letter.toLowerCase(), domain, sender);
    if (value === null) return null;
    expanded += letter === undefined ? value : transform(value, keep, reverse, delimiters);
    at += whole.length - 1;
  }
  return expanded;
}

function literal(macro: string): string {
  return macro === "%%" ? "%" : macro === "%_" ? " " : "%20";
}

function macroValue(letter: string, domain: string, sender: string): string | null {
  return letter === "d" ? domain : letter === "o" ? sender : null;
}

/** Splits at the delimiters, reverses if asked, keeps the last `keep` parts, joins with dots (7.3). */
function transform(value: string, keep = "", reverse = "", delimiters = ""): string {
  const parts = delimiters === "" ? value.split(".") : splitAt(value, delimiters);
  if (reverse !== "") parts.reverse();
  return (Number(keep) > 0 ? parts.slice(-Number(keep)) : parts).join(".");
}

function splitAt(value: string, delimiters: string): string[] {
  const parts = [""];
  for (const character of value) {
    if (delimiters.includes(character)) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts;
}
