import accountsText from "./data/role-accounts.txt" with { type: "text" };
import wordsText from "./data/role-words.txt" with { type: "text" };

/** Local parts that stand for a function, and those of them that stay one with something behind them. */
const accounts = new Set<string>();
const stems = new Set<string>();
for (const word of words(accountsText)) accounts.add(word);
for (const word of words(wordsText)) {
  const stem = word.endsWith("*") ? word.slice(0, -1) : word;
  accounts.add(stem);
  if (stem !== word) stems.add(stem);
}

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
  const lower = local.toLowerCase();
  const plus = lower.indexOf("+");
  const name = plus > 0 ? lower.slice(0, plus) : lower;
  if (accounts.has(name)) return true;
  const separator = firstSeparator(name);
  if (separator === -1) return stems.has(withoutDigits(name));
  const joined = joinedSegments(name);
  if (joined !== null && accounts.has(joined)) return true;
  if (joined !== null && (joined.startsWith("noreply") || joined.startsWith("donotreply"))) return true;
  return stems.has(withoutDigits(name.slice(0, separator))) || name.endsWith("-noreply");
}

function firstSeparator(name: string): number {
  for (let at = 1; at < name.length; at++) if (isSeparator(name.charCodeAt(at))) return at;
  return -1;
}

function isSeparator(code: number): boolean {
  return code === 0x2e || code === 0x5f || code === 0x2d;
}

/** The name without its separators, or null where a segment is shorter than two characters. */
function joinedSegments(name: string): string | null {
  let joined = "";
  let start = 0;
  for (let at = 0; at <= name.length; at++) {
    if (at < name.length && !isSeparator(name.charCodeAt(at))) continue;
    if (at - start < 2) return null;
    joined += name.slice(start, at);
    start = at + 1;
  }
  return joined;
}

function withoutDigits(name: string): string {
  let end = name.length;
  while (end > 0 && name.charCodeAt(end - 1) >= 0x30 && name.charCodeAt(end - 1) <= 0x39) end--;
  return end === name.length ? name : name.slice(0, end);
}
