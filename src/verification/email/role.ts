import accountsText from "./data/role-accounts.txt" with { type: "text" };
import wordsText from "./data/role-words.txt" with { type: "text" };
import { foldToAscii } from "./gibberish-fold.ts";
import { createWordFilter } from "./word-filter.ts";

/** Local parts of roles, and those that remain one with a suffix. */
const accounts = new Set<string>();
const stems = new Set<string>();
for (const word of words(accountsText)) accounts.add(word);
for (const word of words(wordsText)) {
  const stem = word.endsWith("*") ? word.slice(0, -1) : word;
  accounts.add(stem).add(stem.replace(/[._-]/g, ""));
  if (stem !== word) stems.add(stem);
}

/** Last segments that make any local part a role: `hr-team`, `export.department`. */
const GROUPS: ReadonlySet<string> = new Set([
  "team",
  "dept",
  "department",
  "desk",
  "abteilung",
  "equipe",
  "equipo",
]);

/** Segments beside a role that name where it is: `eu-sales`, `hr.uk`. */
const REGIONS: ReadonlySet<string> = new Set(["eu", "us", "usa", "uk", "emea", "apac", "latam", "dach"]);

/** Segments of compound roles that are not roles themselves. */
const COMPOUND_SEGMENTS =
  "back book box care center centre daemon data do front host hot human letter letters line main master new not post protection reply " +
  "resources shop site trust web";

/** The segments that a compound role may have: others, as in `bill.ing` or `in.fo`, do not make a role. */
const compoundSegments: ReadonlySet<string> = new Set([
  ...[...accounts].flatMap((word) => word.split(/[._-]/)).filter((word) => word.length > 1),
  ...GROUPS,
  ...COMPOUND_SEGMENTS.split(" "),
]);

const beginsLikeAccount = createWordFilter([...accounts, ...REGIONS, "noreply", "donotreply"]);

function words(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .flatMap((line) => line.split(" "))
    .filter((word) => word !== "");
}

/**
 * Returns whether a local part names a role and not a person: `info`, `no-reply`, `sales.uk`, `support2`. Ignores a
 * plus tag, accents and separators, except beside a single letter, as `h.r` are a person's initials.
 */
export function isRole(local: string): boolean {
  return isRoleIn(local, 0, local.length);
}

/** Returns the same for the local part in text[start, end). */
export function isRoleIn(text: string, start: number, end: number): boolean {
  return mayBeRole(text, start, end) && isRoleName(text.slice(start, end));
}

function isRoleName(local: string): boolean {
  const lower = local.toLowerCase();
  if (hasRole(lower)) return true;
  if (!/[^ -~]/.test(lower)) return false;
  const composed = lower.normalize("NFC");
  if (ACCENTED_NAMES.has(composed)) return false;
  if (composed !== lower && hasRole(composed)) return true;
  return (
    /\p{Script=Latin}/u.test(composed) && (isFoldedRole(composed) || isFoldedRole(withoutUmlauts(composed)))
  );
}

/** Family names that are roles without their accents. */
const ACCENTED_NAMES: ReadonlySet<string> = new Set(["schüle", "jíra", "holá", "carè"]);

/** Returns whether a local part names a role where accents are ignored. */
function isFoldedRole(composed: string): boolean {
  const folded = foldToAscii(composed);
  return mayBeRole(folded, 0, folded.length) && hasRole(folded);
}

/** Writes umlauts as German does without them; in other languages the letter stays alone. */
function withoutUmlauts(text: string): string {
  return text.replace(/[äöü]/g, (letter) => UMLAUTS[letter] ?? letter);
}

const UMLAUTS: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue" };

/** Returns whether a local part in lower case names a role as it is spelled. */
function hasRole(lower: string): boolean {
  const plus = lower.indexOf("+");
  const name = plus > 0 ? lower.slice(0, plus) : lower;
  if (accounts.has(name)) return true;
  const separator = firstSeparator(name);
  if (separator === -1) {
    const stem = withoutDigits(name);
    return (stem !== name && stems.has(stem)) || isJoinedGroup(stem);
  }
  if (stems.has(withoutDigits(name.slice(0, separator)))) return true;
  if (GROUPS.has(name.slice(lastSeparator(name) + 1))) return true;
  const segments = segmentsOf(name);
  if (segments === null) return false;
  const isCompound =
    accounts.has(segments.join("")) && segments.every((segment) => compoundSegments.has(segment));
  return isCompound || areRoles(segments) || NO_REPLY.test(segments.join(" "));
}

/** Returns whether all segments are roles, as in `it.helpdesk`, or one is and the others are regions. */
function areRoles(segments: readonly string[]): boolean {
  if (segments.length < 2 || !segments.some((segment) => accounts.has(segment))) return false;
  return segments.every((segment) => accounts.has(segment) || REGIONS.has(segment));
}

/** Returns whether a name is a role with a word of GROUPS behind it at once: `salesdept`, `hrteam`. */
function isJoinedGroup(name: string): boolean {
  for (const group of GROUPS)
    if (name.endsWith(group)) return accounts.has(name.slice(0, name.length - group.length));
  return false;
}

const NO_REPLY = /^(?:no ?reply|do ?not ?reply)|(?:noreply|(?:^| )no reply)$/;

/** Checks both ends. Returns false for no role, and for most names of people. */
function mayBeRole(text: string, start: number, localEnd: number): boolean {
  let end = Math.min(start + 1, localEnd);
  while (end < localEnd && text.charCodeAt(end) !== PLUS) end++;
  return beginsLikeAccount(text, start, end) || endsLikeGroup(text, start, end);
}

const PLUS = 0x2b;

/** By pair of characters, 1 where it may end a word of GROUPS or `noreply`. */
const isGroupEnd = new Uint8Array(1_024);
for (const word of [...GROUPS, "noreply"]) {
  isGroupEnd[pairOf(word.charCodeAt(word.length - 2), word.charCodeAt(word.length - 1))] = 1;
}

/** Returns a pair of characters as a number below 1,024, the same for either case and for some other characters. */
function pairOf(first: number, second: number): number {
  return (first & 31) * 32 + (second & 31);
}

function endsLikeGroup(text: string, start: number, end: number): boolean {
  let last = end - 1;
  while (last > start && (isSeparator(text.charCodeAt(last)) || isDigit(text.charCodeAt(last)))) last--;
  if (last < start + 1) return false;
  const first = text.charCodeAt(last - 1);
  const second = text.charCodeAt(last);
  return first > 127 || second > 127 || isGroupEnd[pairOf(first, second)] === 1;
}

function firstSeparator(name: string): number {
  for (let at = 1; at < name.length; at++) if (isSeparator(name.charCodeAt(at))) return at;
  return -1;
}

function lastSeparator(name: string): number {
  let at = name.length - 1;
  while (at >= 0 && !isSeparator(name.charCodeAt(at))) at--;
  return at;
}

function isSeparator(code: number): boolean {
  return code === 0x2e || code === 0x5f || code === 0x2d;
}

/** Returns the segments between separators without numbers, or null where one is a single letter. */
function segmentsOf(name: string): string[] | null {
  const segments: string[] = [];
  let start = 0;
  for (let at = 0; at <= name.length; at++) {
    if (at < name.length && !isSeparator(name.charCodeAt(at))) continue;
    const segment = name.slice(start, at);
    start = at + 1;
    if (withoutDigits(segment) === "") continue;
    if (segment.length < 2) return null;
    segments.push(segment);
  }
  return segments;
}

function withoutDigits(name: string): string {
  let end = name.length;
  while (end > 0 && isDigit(name.charCodeAt(end - 1))) end--;
  return end === name.length ? name : name.slice(0, end);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
