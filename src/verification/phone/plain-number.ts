/** The digits as written, and whether there is a `+` before them. */
export type PlainNumber = { readonly digits: string; readonly isInternational: boolean };

const SPACE = 32;
const OPENING = 40;
const CLOSING = 41;
const PLUS = 43;
const HYPHEN = 45;
const DOT = 46;
const SLASH = 47;
const ZERO = 48;
const NINE = 57;
const TEXT_LENGTH_MAX = 250;
const DIGITS_MIN = 3;
const DIGITS_MAX = 17;

/**
 * Reads the usual form of lists: digits, spaces and `-./()`, with or without a leading `+`, which a digit other than 0
 * follows. Returns undefined for any other text, and for one of fewer than 3 or more than 17 digits.
 */
export function readPlainNumber(text: string): PlainNumber | undefined {
  if (text.length > TEXT_LENGTH_MAX) return undefined;
  let start = 0;
  while (text.charCodeAt(start) === SPACE) start += 1;
  const head = text.charCodeAt(start);
  const isInternational = head === PLUS;
  if (isInternational) {
    start += 1;
    const first = text.charCodeAt(start);
    if (!(first > ZERO && first <= NINE)) return undefined;
  } else if (!isDigit(head) && head !== OPENING) return undefined;
  const digits = digitsFrom(text, start);
  if (digits === undefined || digits.length < DIGITS_MIN || digits.length > DIGITS_MAX) return undefined;
  return { digits, isInternational };
}

/** Returns the digits from `start` on; undefined where a character is neither a digit nor a separator. */
function digitsFrom(text: string, start: number): string | undefined {
  let digits = "";
  let runStart = start;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isDigit(code)) continue;
    if (!isSeparator(code)) return undefined;
    if (at > runStart) digits += text.slice(runStart, at);
    runStart = at + 1;
  }
  return runStart === 0 ? text : digits + text.slice(runStart);
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

function isSeparator(code: number): boolean {
  return (
    code === SPACE ||
    code === HYPHEN ||
    code === OPENING ||
    code === CLOSING ||
    code === DOT ||
    code === SLASH
  );
}
