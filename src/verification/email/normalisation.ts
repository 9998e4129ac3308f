import { localPartIn } from "./address.ts";
import { DOT, HYPHEN, marksOf, NOT_ASCII, PLUS, UNDERSCORE, UPPER_CASE } from "./address-marks.ts";
import type { NormalisationRule, Provider } from "./providers.ts";

/**
 * Returns the key of a mailbox: addresses with the same key reach the same mailbox, as far as the provider documents
 * it. It finds duplicates, and is not the address to send to. A key is its own key.
 *
 * Sources: support.google.com/mail/answer/7436150 (dots, gmail.com only), support.google.com/a/users/answer/9282734
 * (plus on Workspace), learn.microsoft.com plus-addressing-in-exchange-online, help.yahoo.com SLN28815,
 * fastmail.help 360060591053, proton.me/support/addresses-and-aliases, yandex.com/support/mail,
 * kb.mailbox.org mail-extensions, posteo.de/hilfe. GMX, WEB.DE, T-Online, Tuta, mail.ru, QQ, NetEase, Libero and
 * La Poste have no plus addressing, so a tag is part of the name there.
 *
 * @example normalizedAddress("J.Doe+news", "googlemail.com", "gmail") gives "jdoe@gmail.com"
 */
export function normalizedAddress(local: string, domain: string, rule: NormalisationRule): string {
  return keyOf(lowerCased(local), domain, rule);
}

/** Returns the key for a local part in lower case and NFC. */
function keyOf(local: string, domain: string, rule: NormalisationRule): string {
  if (rule === "fastmail") return fastmailKey(local, domain);
  return `${localKey(local, rule)}@${domainKey(domain, rule)}`;
}

/**
 * Returns the key of an accepted address with its `@` at `at`, and the marks before and behind that. Most addresses are
 * their own keys, and are returned as they are.
 */
export function keyOfAddress(
  address: string,
  at: number,
  localMarks: number,
  domainMarks: number,
  { domain, normalisation }: { readonly domain: string; readonly normalisation: NormalisationRule },
): string {
  const isKey =
    (localMarks & CHANGED_BY[normalisation]) === 0 &&
    (domainMarks & NOT_LOWER) === 0 &&
    address.length - at - 1 === domain.length &&
    keepsDomain(domain, normalisation);
  if (isKey) return address;
  const isLower = (localMarks & NOT_LOWER) === 0;
  const local = isLower ? address.slice(0, at) : lowerCased(localPartIn(address));
  return keyOf(local, domain, normalisation);
}

const NOT_LOWER = UPPER_CASE | NOT_ASCII;

/** The marks that a rule changes: a local part without them is its own key. */
const CHANGED_BY: Readonly<Record<NormalisationRule, number>> = {
  keep: NOT_LOWER,
  plus: NOT_LOWER | PLUS,
  gmail: NOT_LOWER | PLUS | DOT,
  proton: NOT_LOWER | PLUS | DOT | UNDERSCORE | HYPHEN,
  yahoo: NOT_LOWER | HYPHEN,
  yandex: NOT_LOWER | PLUS | DOT,
  fastmail: NOT_LOWER | PLUS,
};

/** Returns the rule of a domain: that of its provider, else that of its mail hosts. */
export function normalisationRuleOf(
  provider: Provider | undefined,
  mxHosts: readonly string[],
): NormalisationRule {
  if (provider !== undefined && provider.kind !== "company") return provider.rule;
  return mxHosts.some(isGoogleWorkspaceHost) ? "plus" : "keep";
}

/** Returns a local part in lower case and NFC; unchanged where that is too long (some letters take more octets). */
function lowerCased(local: string): string {
  const lower = local.toLowerCase();
  if (isAscii(lower)) return lower;
  const key = composed(lower);
  return Buffer.byteLength(key) > 64 ? local : key;
}

/** Composes again (NFC): where characters were removed, a combining mark may follow another letter. */
function composed(text: string): string {
  return isAscii(text) ? text : text.normalize("NFC");
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}

/** Returns whether a host is one of Google Workspace, where plus addressing works and dots distinguish mailboxes. */
function isGoogleWorkspaceHost(host: string): boolean {
  return (
    host === "smtp.google.com" ||
    host === "aspmx.l.google.com" ||
    host.endsWith(".aspmx.l.google.com") ||
    (host.startsWith("aspmx") && host.endsWith(".googlemail.com"))
  );
}

function localKey(local: string, rule: NormalisationRule): string {
  switch (rule) {
    case "plus":
      return beforeFirst(local, "+");
    case "gmail":
      return withoutMarked(beforeFirst(local, "+"), DOT);
    case "proton":
      return withoutMarked(beforeFirst(local, "+"), DOT | UNDERSCORE | HYPHEN);
    case "yahoo":
      return beforeFirst(local, "-");
    case "yandex":
      return beforeFirst(local, "+").replaceAll(".", "-");
    default:
      return local;
  }
}

function domainKey(domain: string, rule: NormalisationRule): string {
  if (rule === "gmail") return "gmail.com";
  if (rule === "yandex") return "yandex.ru";
  return domain;
}

function keepsDomain(domain: string, rule: NormalisationRule): boolean {
  if (rule === "fastmail") return domain.indexOf(".") === domain.lastIndexOf(".");
  return domainKey(domain, rule) === domain;
}

/** Resolves `anything@user.fastmail.com` to `user@fastmail.com`; an underscore of the user is a hyphen there. */
function fastmailKey(local: string, domain: string): string {
  const labels = domain.split(".");
  const [user = ""] = labels;
  return labels.length === 3 && !TWO_LEVEL_SUFFIXES.has(labels.slice(1).join("."))
    ? `${user.replaceAll("-", "_")}@${labels.slice(1).join(".")}`
    : `${beforeFirst(local, "+")}@${domain}`;
}

/** The suffixes of Fastmail's own domains of three labels, whose first label is not a user. */
const TWO_LEVEL_SUFFIXES: ReadonlySet<string> = new Set(["co.uk", "com.au"]);

/** Returns the text before `mark` and a dot in front of it; the whole text where nothing would be left. */
function beforeFirst(local: string, mark: string): string {
  const at = local.indexOf(mark);
  if (at <= 0) return local;
  return local.slice(0, local.charAt(at - 1) === "." ? at - 1 : at);
}

/** Returns the text without the characters that have one of the marks; the whole text where nothing would be left. */
function withoutMarked(local: string, marks: number): string {
  let rest = "";
  let start = 0;
  for (let at = 0; at < local.length; at++) {
    if ((marksOf(local.charCodeAt(at)) & marks) === 0) continue;
    rest += local.slice(start, at);
    start = at + 1;
  }
  if (start === 0) return local;
  const left = rest + local.slice(start);
  if (left === "") return local;
  if (isAscii(local)) return left;
  const key = composed(left);
  // A leading combining mark, whose base character was removed, would make the local part invalid.
  return /^\p{M}/u.test(key) ? local : key;
}
