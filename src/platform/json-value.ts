export type JsonObject = { readonly [name: string]: unknown };

/** In place of the value of a text that holds more values than were allowed. */
export const TOO_MANY_VALUES = Symbol("too many values");
/** In place of the value of a text that is nested deeper than was allowed. */
export const TOO_DEEP = Symbol("too deep");

/** Each takes up to 80 bytes once it is parsed. */
const VALUES_MAX = 500_000;

/**
 * Returns the value that a text is the JSON of; undefined where it is none. A text of 33 MB that is nothing but
 * brackets would take gigabytes: so `TOO_MANY_VALUES` is returned, with nothing parsed, where there are more, and
 * `TOO_DEEP` where values are nested deeper than `depthMax`, which what is recursive could not walk.
 */
export function parseJson(
  text: string,
  valuesMax = VALUES_MAX,
  depthMax = Number.POSITIVE_INFINITY,
): unknown {
  if (text.length > Math.min(valuesMax, depthMax)) {
    const { values, depth } = measure(text, valuesMax, depthMax);
    if (values > valuesMax) return TOO_MANY_VALUES;
    if (depth > depthMax) return TOO_DEEP;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

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

/** How many values a JSON text holds at least, and how deep; no further than one past a limit. About 1 ns a character. */
function measure(text: string, valuesMax: number, depthMax: number): { values: number; depth: number } {
  let values = 1;
  let depth = 0;
  let deepest = 0;
  let inText = false;
  for (let at = 0; at < text.length && values <= valuesMax && deepest <= depthMax; at++) {
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
  return { values, depth: deepest };
}
