import type { Steps } from "./steps.ts";

export type JsonObject = { readonly [name: string]: unknown };

/** Returned for a text with more values than allowed. */
export const TOO_MANY_VALUES = Symbol("too many values");
/** Returned for a text that is nested deeper than allowed. */
export const TOO_DEEP = Symbol("too deep");

/** Default limit of values; each takes up to 80 bytes once it is parsed. */
const VALUES_MAX = 500_000;

/**
 * Parses JSON; undefined for invalid JSON. As 33 MB of brackets would take gigabytes, the text is scanned first:
 * `TOO_MANY_VALUES` is returned past `valuesMax`, and `TOO_DEEP` for a nesting deeper than `depthMax`, which recursion could
 * not walk.
 */
export function parseJson(
  text: string,
  valuesMax = VALUES_MAX,
  depthMax = Number.POSITIVE_INFINITY,
): unknown {
  if (text.length > Math.min(valuesMax, depthMax)) {
    const measured = measure(text, text.length, BEGINNING, valuesMax, depthMax);
    if (measured.values > valuesMax) return TOO_MANY_VALUES;
    if (measured.deepest > depthMax) return TOO_DEEP;
  }
  return parsed(text);
}

/** Characters that are scanned in one step: about 1 ms. */
const MEASURED_AT_ONCE = 524_288;

/** Parses a long text in steps; the parsing itself is one step, some 5 ns a character. */
export async function parseJsonInSteps(
  text: string,
  step: Steps,
  valuesMax = VALUES_MAX,
  depthMax = Number.POSITIVE_INFINITY,
): Promise<unknown> {
  let measured = BEGINNING;
  while (measured.at < text.length) {
    const { at } = measured;
    measured = await step(() => measure(text, at + MEASURED_AT_ONCE, measured, valuesMax, depthMax));
    if (measured.values > valuesMax) return TOO_MANY_VALUES;
    if (measured.deepest > depthMax) return TOO_DEEP;
  }
  return step(() => parsed(text));
}

/**
 * Returns whether an object in a JSON text has a duplicate name, by comparison with the parsed value, which keeps the last
 * of them. Other programs keep the first.
 */
export async function repeatsName(text: string, value: unknown, step: Steps): Promise<boolean> {
  const all = Number.POSITIVE_INFINITY;
  let measured = BEGINNING;
  while (measured.at < text.length) {
    const { at } = measured;
    measured = await step(() => measure(text, at + MEASURED_AT_ONCE, measured, all, all));
  }
  return step(() => 1 + commasAndBrackets(value) !== measured.values);
}

/** Applies `measure` to the shortest JSON of a value. */
function commasAndBrackets(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const parts = Object.values(value);
  return parts.reduce((sum, part) => sum + commasAndBrackets(part), Math.max(1, parts.length));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses a short text as a JSON object; null for anything else. */
export function parseObject(text: string): JsonObject | null {
  const value = parsed(text);
  return isObject(value) ? value : null;
}

/** Returns whether a JSON value is an object, not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** The state of a scan at a position. */
type Measured = {
  readonly at: number;
  readonly values: number;
  readonly depth: number;
  readonly deepest: number;
  readonly inText: boolean;
};

const BEGINNING: Measured = { at: 0, values: 1, depth: 0, deepest: 0, inText: false };

/**
 * Scans a range of a JSON text for a lower bound of its values and its depth, up to one past a limit. About 1 ns a
 * character.
 */
function measure(
  text: string,
  endMax: number,
  from: Measured,
  valuesMax: number,
  depthMax: number,
): Measured {
  let { at, values, depth, deepest, inText } = from;
  const end = Math.min(endMax, text.length);
  for (; at < end && values <= valuesMax && deepest <= depthMax; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) inText = !inText;
    else if (inText) at += code === BACKSLASH ? 1 : 0;
    else if (code === COMMA) values += 1;
    else if (code === OPENING_BRACKET || code === OPENING_BRACE) {
      values += 1;
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) depth -= 1;
  }
  return { at, values, depth, deepest, inText };
}
