import type { Steps } from "./steps.ts";

export type JsonObject = { readonly [name: string]: unknown };

/** In place of the value of a text that holds more values than were allowed. */
export const TOO_MANY_VALUES = Symbol("too many values");
/** In place of the value of a text that is nested deeper than was allowed. */
export const TOO_DEEP = Symbol("too deep");

/** Each takes up to 80 bytes once it is parsed. */
const VALUES_MAX = 500_000;

/**
 * Returns the value of a JSON text; undefined for invalid JSON. A text of 33 MB that is nothing but
 * brackets would take gigabytes: so `TOO_MANY_VALUES` is returned, with nothing parsed, where there are more, and
 * `TOO_DEEP` where values are nested deeper than `depthMax`, which recursion could not walk.
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

/** Characters that are looked at in one step: about 1 ms. */
const MEASURED_AT_ONCE = 524_288;

/** Returns the same, for a long text; only the parsing itself is one step, some 5 ns a character. */
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
 * Returns whether an object in a JSON text has a name twice, by the value that the text was parsed to, which has the last
 * of them alone. Other programs take the first.
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

/** Counts what `measure` counts in the shortest text of a value. */
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

/** Returns the object that a short text is in JSON; null for anything else. */
export function parseObject(text: string): JsonObject | null {
  const value = parsed(text);
  return isObject(value) ? value : null;
}

/** Returns whether a value of JSON is an object, and no array. */
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

/** What was seen of a text up to a place. */
type Measured = {
  readonly at: number;
  readonly values: number;
  readonly depth: number;
  readonly deepest: number;
  readonly inText: boolean;
};

const BEGINNING: Measured = { at: 0, values: 1, depth: 0, deepest: 0, inText: false };

/**
 * How many values a JSON text holds at least, and how deep, from a place up to an end; no further than one past a limit.
 * About 1 ns a character.
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
