/** Walks through a JSON text that `JSON.parse` accepts, in one pass. Linear, without recursion. */
export type JsonScanner = {
  readonly position: () => number;
  readonly skipSpace: () => void;
  /** Moves over a given count of characters. */
  readonly move: (characters: number) => void;
  /** Moves to the end of the string that starts here. */
  readonly passString: () => void;
  /** Moves to the end of the value that starts here. */
  readonly passValue: () => void;
  /**
   * Returns by how many bytes all that was passed is longer than `JSON.stringify` writes it: for its spaces and escapes. A
   * number counts as it is written, or as it is once parsed where that is longer.
   */
  readonly surplus: () => number;
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SLASH = 0x2f;
const COMMA = 0x2c;
const COLON = 0x3a;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const [DIGIT_0, DIGIT_9] = [0x30, 0x39];
const [CAPITAL_E, SMALL_E, SMALL_F, SMALL_U] = [0x45, 0x65, 0x66, 0x75];
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** An integer may be rounded up to one of more digits where it begins so. */
const ROUNDED_UP = "9".repeat(16);

export function createJsonScanner(text: string): JsonScanner {
  let at = 0;
  let surplus = 0;
  /** The next backslash, so that each stretch of the text is searched once. */
  let backslash = -1;

  function skipSpace(): void {
    const from = at;
    while (isBlank(text.charCodeAt(at))) at += 1;
    surplus += at - from;
  }

  function passString(): void {
    // Strings may have megabytes: the native search finds the quotes.
    const quote = text.indexOf('"', at + 1);
    if (backslash < at) {
      backslash = text.indexOf("\\", at);
      if (backslash === -1) backslash = text.length;
    }
    if (quote < backslash) {
      at = quote + 1;
      return;
    }
    at = backslash;
    for (let code = BACKSLASH; code !== QUOTE; code = text.charCodeAt(at)) {
      if (code !== BACKSLASH) at += 1;
      else passEscape();
    }
    at += 1;
  }

  function passEscape(): void {
    const code = text.charCodeAt(at + 1);
    if (code !== SMALL_U) {
      if (code === SLASH) surplus += 1;
      at += 2;
      return;
    }
    const unit = unitAt(text, at);
    const isPair = isHigh(unit) && text.startsWith("\\u", at + 6) && isLow(unitAt(text, at + 6));
    surplus += isPair ? 8 : surplusOfUnit(unit);
    at += isPair ? 12 : 6;
  }

  function passNumber(): void {
    const start = at;
    const first = text.charCodeAt(start) === MINUS ? start + 1 : start;
    let hasExponent = false;
    for (at = first; ; at += 1) {
      const code = text.charCodeAt(at);
      if (code >= DIGIT_0 && code <= DIGIT_9) continue;
      if (code === SMALL_E || code === CAPITAL_E) hasExponent = true;
      else if (code !== POINT && code !== MINUS && code !== PLUS) break;
    }
    if (hasExponent) surplus -= Math.max(0, parsedLengthMax(text, first, at) - (at - first));
    else if (text.startsWith(ROUNDED_UP, first)) surplus -= 1;
  }

  function passValue(): void {
    let depth = 0;
    do {
      const code = text.charCodeAt(at);
      if (code === QUOTE) passString();
      else if (code === COMMA || code === COLON) at += 1;
      else if (code === MINUS || (code >= DIGIT_0 && code <= DIGIT_9)) passNumber();
      else if (code === OPENING_BRACKET || code === OPENING_BRACE) {
        depth += 1;
        at += 1;
      } else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) {
        depth -= 1;
        at += 1;
      } else if (isBlank(code)) skipSpace();
      else at += code === SMALL_F ? "false".length : "true".length;
    } while (depth > 0);
  }

  return {
    position: () => at,
    skipSpace,
    move(characters) {
      at += characters;
    },
    passString,
    passValue,
    surplus: () => surplus,
  };
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Significant digits of a number once it is parsed; fewer are never rounded. */
const [EXACT_DIGITS_MAX, PARSED_DIGITS_MAX] = [15, 17];
/** Digits before the point of the largest number. A larger one is infinite, and counts as it is written. */
const POINT_MAX = 309;

/**
 * Returns the most characters that `JSON.stringify` writes of a number without its sign (ECMA-262, Number::toString), by its
 * digits and the place of its point. To parse and write it takes three times as long.
 */
function parsedLengthMax(text: string, first: number, end: number): number {
  let digits = 0;
  /** Digits before the point, or less the zeros behind it. */
  let point = 0;
  let hasPoint = false;
  let at = first;
  for (; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === POINT) hasPoint = true;
    else if (code < DIGIT_0 || code > DIGIT_9) break;
    else if (digits > 0 || code !== DIGIT_0) {
      digits += 1;
      if (!hasPoint) point += 1;
    } else if (hasPoint) point -= 1;
  }
  point += Number(text.slice(at + 1, end));
  if (digits === 0 || point > POINT_MAX) return 1;
  const kept = Math.min(digits, PARSED_DIGITS_MAX);
  if (point > 0 && point <= 21) return kept > point ? kept + 1 : point + (digits > EXACT_DIGITS_MAX ? 1 : 0);
  if (point > -6 && point <= 0) return 2 - point + kept;
  return (kept > 1 ? kept + 1 : 1) + `e+${Math.abs(point - 1)}`.length;
}

/** Returns the code unit of a `\u` escape. */
function unitAt(text: string, at: number): number {
  let unit = 0;
  for (let digit = at + 2; digit < at + 6; digit += 1) {
    const code = text.charCodeAt(digit);
    unit = unit * 16 + (code & 0xf) + (code > DIGIT_9 ? 9 : 0);
  }
  return unit;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** Control characters with an escape of two characters. */
const SHORT_ESCAPES: ReadonlySet<number> = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d]);

/** Returns by how many bytes the `\u` escape of a code unit is longer than `JSON.stringify` writes it. */
function surplusOfUnit(unit: number): number {
  if (unit < 0x20) return SHORT_ESCAPES.has(unit) ? 4 : 0;
  if (unit === QUOTE || unit === BACKSLASH) return 4;
  if (unit < 0x80) return 5;
  if (unit < 0x800) return 4;
  return isHigh(unit) || isLow(unit) ? 0 : 3;
}
