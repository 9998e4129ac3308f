import { localPartIn } from "./address.ts";
import { DOT, HYPHEN, marksOf, NOT_ASCII, PLUS, UNDERSCORE, UPPER_CASE } from "./address-marks.ts";
import type { NormalisationRule, Provider } from "./providers.ts";

/**
 * The key of a mailbox: two addresses with one key reach the same person, as far as the provider publishes it.
 * It is for finding duplicates and never the address to send to. Applied to its own result it changes nothing.
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

/** The key of a local part in lower case and NFC. */
function keyOf(local: string, domain: string, rule: NormalisationRule): string {
  if (rule === "fastmail") return fastmailKey(local, domain);
  return `${localKey(local, rule)}@${domainKey(domain, rule)}`;
}

/**
 * The same for an accepted address whose `@` stands at a place, with the marks before and behind it. Most addresses
 * are their own keys: then nothing is made.
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

/** The marks without which a local part is its own key. */
const CHANGED_BY: Readonly<Record<NormalisationRule, number>> = {
  keep: NOT_LOWER,
  plus: NOT_LOWER | PLUS,
  gmail: NOT_LOWER | PLUS | DOT,
  proton: NOT_LOWER | PLUS | DOT | UNDERSCORE | HYPHEN,
  yahoo: NOT_LOWER | HYPHEN,
  yandex: NOT_LOWER | PLUS | DOT,
  fastmail: NOT_LOWER | PLUS,
};

/** The rule of a domain: its provider's, or that of the host of its mail. */
export function normalisationRuleOf(
  provider: Provider | undefined,
  mxHosts: readonly string[],
): NormalisationRule {
  if (provider !== undefined && provider.kind !== "company") return provider.rule;
  return mxHosts.some(isGoogleWorkspaceHost) ? "plus" : "keep";
}

/** Lower case in NFC, unless that makes a local part too long to be one (some letters grow). */
function lowerCased(local: string): string {
  const lower = local.toLowerCase();
  if (isAscii(lower)) return lower;
  const key = composed(lower);
  return Buffer.byteLength(key) > 64 ? local : key;
}

/** What is put together anew may begin with a mark that joins what stands before it. */
function composed(text: string): string {
  return isAscii(text) ? text : text.normalize("NFC");
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}

/** Google Workspace: plus addressing works, dots distinguish mailboxes. */
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
      return without(beforeFirst(local, "+"), DOT);
    case "proton":
      return without(beforeFirst(local, "+"), DOT | UNDERSCORE | HYPHEN);
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

/** `anything@user.fastmail.com` is `user@fastmail.com`; an underscore of the user's name is a hyphen there. */
function fastmailKey(local: string, domain: string): string {
  const labels = domain.split(".");
  const [user = ""] = labels;
  return labels.length === 3 && !TWO_LEVEL_SUFFIXES.has(labels.slice(1).join("."))
    ? `${user.replaceAll("-", "_")}@${labels.slice(1).join(".")}`
    : `${beforeFirst(local, "+")}@${domain}`;
}

/** Fastmail domains of three labels end in these: what stands before is the domain, not a user. */
const TWO_LEVEL_SUFFIXES: ReadonlySet<string> = new Set(["co.uk", "com.au"]);

/** What stands before the mark and the dot in front of it, or the whole where nothing would be left. */
function beforeFirst(local: string, mark: string): string {
  const at = local.indexOf(mark);
  if (at <= 0) return local;
  return local.slice(0, local.charAt(at - 1) === "." ? at - 1 : at);
}

/** Without the characters that are so marked, or the whole where nothing would be left. */
function without(local: string, marks: number): string {
  let rest = "";
  let from = 0;
  for (let at = 0; at < local.length; at++) {
    if ((marksOf(local.charCodeAt(at)) & marks) === 0) continue;
    rest += local.slice(from, at);
    from = at + 1;
  }
  if (from === 0) return local;
  const left = rest + local.slice(from);
  if (left === "") return local;
  if (isAscii(local)) return left;
  const key = composed(left);
  // A mark that lost the character it stood on would make an invalid local part.
  return /^\p{M}/u.test(key) ? local : key;
}
