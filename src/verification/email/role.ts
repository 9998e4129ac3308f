import accountsText from "./data/role-accounts.txt" with { type: "text" };
import wordsText from "./data/role-words.txt" with { type: "text" };
import { createWordFilter } from "./word-filter.ts";

/** Local parts that stand for a function, and those of them that stay one with something behind them. */
const accounts = new Set<string>();
const stems = new Set<string>();
for (const word of words(accountsText)) accounts.add(word);
for (const word of words(wordsText)) {
  const stem = word.endsWith("*") ? word.slice(0, -1) : word;
  accounts.add(stem);
  if (stem !== word) stems.add(stem);
}

/** Behind a separator these make a function of whatever they follow: `hr-team`, `export.department`. */
const GROUPS: ReadonlySet<string> = new Set([
  "team",
  "dept",
  "department",
  "desk",
  "abteilung",
  "equipe",
  "equipo",
]);

/** What compound roles are made of, beside other roles. */
const COMPOUND_PARTS =
  "back book box care center centre daemon data do front host hot human letter letters line main master new not post protection reply " +
  "resources shop site trust web";

/** A role that is written in parts consists of these: none is put together of others, as in `bill.ing` or `in.fo`. */
const parts: ReadonlySet<string> = new Set([
  ...[...accounts].flatMap((word) => word.split(/[._-]/)).filter((word) => word.length > 1),
  ...GROUPS,
  ...COMPOUND_PARTS.split(" "),
]);

const beginsLikeAccount = createWordFilter([...accounts, "noreply", "donotreply"]);

function words(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .flatMap((line) => line.split(" "))
    .filter((word) => word !== "");
}

/**
 * Whether a local part names a function and not a person: `info`, `no-reply`, `sales.uk`, `support2`. A plus tag
 * and separators are looked through; a separator between single letters is not, as `h.r` are a person's initials.
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
  const plus = lower.indexOf("+");
  const name = plus > 0 ? lower.slice(0, plus) : lower;
  if (accounts.has(name)) return true;
  const separator = firstSeparator(name);
  if (separator === -1) {
    const stem = withoutDigits(name);
    return stem !== name && stems.has(stem);
  }
  if (stems.has(withoutDigits(name.slice(0, separator)))) return true;
  if (GROUPS.has(name.slice(lastSeparator(name) + 1))) return true;
  const segments = segmentsOf(name);
  if (segments === null) return false;
  const isCompound = accounts.has(segments.join("")) && segments.every((segment) => parts.has(segment));
  return isCompound || areRoles(segments) || NO_REPLY.test(segments.join(" "));
}

/** Two functions make one, as in `it.helpdesk` and `hr.payroll`. */
function areRoles(segments: readonly string[]): boolean {
  return segments.length > 1 && segments.every((segment) => accounts.has(segment));
}

const NO_REPLY = /^(?:no ?reply|do ?not ?reply)|(?:noreply|(?:^| )no reply)$/;

/** A quick look at both ends: no name that it denies is a role, and it denies most names of people. */
function mayBeRole(text: string, start: number, localEnd: number): boolean {
  let end = Math.min(start + 1, localEnd);
  while (end < localEnd && text.charCodeAt(end) !== PLUS) end++;
  return beginsLikeAccount(text, start, end) || endsLikeGroup(text, start, end);
}

const PLUS = 0x2b;

/** By two characters, whether they may be the last of what makes a role of whatever stands before it. */
const isGroupEnd = new Uint8Array(1_024);
for (const word of [...GROUPS, "noreply"]) {
  isGroupEnd[pairOf(word.charCodeAt(word.length - 2), word.charCodeAt(word.length - 1))] = 1;
}

/** Two characters as a number below 1,024, which letters in either case share, with some that are no letters. */
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

/** The parts between separators that are no numbers, or null where one is a single letter. */
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
