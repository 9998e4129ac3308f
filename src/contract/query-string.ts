import { ApiError } from "./errors.ts";

const PLUS = 0x2b;
const PERCENT = 0x25;

/**
 * Passes on the parameters of an address that have one of the names, in the order they stand, decoded as forms are
 * (`+` is a space). A `%` without an octet stands for itself, as browsers read it. Throws `invalid_request` where the
 * octets of a value are not UTF-8: another text would be verified than was meant.
 */
export function readQuery(
  url: string,
  names: readonly string[],
  take: (name: string, value: string) => void,
): void {
  const start = url.indexOf("?");
  if (start === -1) return;
  let equals = start;
  for (let at = start + 1; at < url.length; ) {
    const ampersand = url.indexOf("&", at);
    const end = ampersand === -1 ? url.length : ampersand;
    // The one that was found last may be far ahead: to look for it at each parameter takes the square of the length.
    if (equals !== -1 && equals < at) equals = url.indexOf("=", at);
    const nameEnd = equals === -1 || equals > end ? end : equals;
    const name = end > at ? nameBetween(url, at, nameEnd, names) : undefined;
    if (name !== undefined) take(name, decode(url, nameEnd + 1, end) ?? notUtf8(name));
    at = end + 1;
  }
}

/** The name that stands there, letter for letter or encoded. All names are ASCII. */
function nameBetween(url: string, from: number, to: number, names: readonly string[]): string | undefined {
  for (let at = from; at < to; at++) {
    const code = url.charCodeAt(at);
    if (code !== PERCENT && code !== PLUS) continue;
    const decoded = decodeAscii(url, from, to);
    return names.find((name) => name === decoded);
  }
  return names.find((name) => name.length === to - from && url.startsWith(name, from));
}

function notUtf8(name: string): never {
  throw new ApiError("invalid_request", `${name} must be UTF-8, each octet of it written as %XX.`);
}

/** Undefined where the octets are not UTF-8. */
function decode(url: string, from: number, to: number): string | undefined {
  return decodeAscii(url, from, to) ?? decodeWide(url.slice(from, to));
}

/**
 * Almost every octet that is written as `%40` is ASCII: those are put in place here, at half the cost of a call.
 * Undefined where one is not, or where no octet is written behind a `%`.
 */
function decodeAscii(url: string, from: number, to: number): string | undefined {
  let text = "";
  let taken = from;
  for (let at = from; at < to; at++) {
    const code = url.charCodeAt(at);
    if (code !== PERCENT && code !== PLUS) continue;
    const octet = code === PLUS ? 0x20 : octetAt(url, at, to);
    if (octet > 0x7f) return undefined;
    text += url.slice(taken, at) + String.fromCharCode(octet);
    if (code === PERCENT) at += 2;
    taken = at + 1;
  }
  return taken === from ? url.slice(from, to) : text + url.slice(taken, to);
}

/** Returns the octet of the two hex digits behind a `%`; more than any octet where they are no such digits. */
function octetAt(url: string, percent: number, to: number): number {
  if (percent + 2 >= to) return Number.POSITIVE_INFINITY;
  return hexDigit(url.charCodeAt(percent + 1)) * 16 + hexDigit(url.charCodeAt(percent + 2));
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = (code | 0x20) - 0x61;
  return letter >= 0 && letter < 6 ? letter + 10 : Number.POSITIVE_INFINITY;
}

function decodeWide(text: string): string | undefined {
  const spaced = text.replaceAll("+", " ");
  return decodeOctets(spaced) ?? decodeOctets(spaced.replace(/%(?![\da-f]{2})/gi, "%25"));
}

function decodeOctets(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
