export type JsonObject = { readonly [name: string]: unknown };

/** In place of the value of a text that holds more values than were allowed. */
export const TOO_MANY_VALUES = Symbol("too many values");

/** Each takes up to 80 bytes once it is parsed. */
const VALUES_MAX = 500_000;

/**
 * Returns the value that a text is the JSON of; undefined where it is none. A text of 33 MB that is nothing but
 * brackets would take gigabytes: so `TOO_MANY_VALUES` is returned, with nothing parsed, where there are more.
 */
export function parseJson(text: string, valuesMax = VALUES_MAX): unknown {
  if (text.length > valuesMax && countValues(text, valuesMax) > valuesMax) return TOO_MANY_VALUES;
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
const OPENING_BRACE = 0x7b;

/** How many values a JSON text holds at least; counts no further than one past the limit. About 1 ns a character. */
function countValues(text: string, valuesMax: number): number {
  let count = 1;
  let inText = false;
  for (let at = 0; at < text.length && count <= valuesMax; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) inText = !inText;
    else if (inText) at += code === BACKSLASH ? 1 : 0;
    else if (code === COMMA || code === OPENING_BRACKET || code === OPENING_BRACE) count += 1;
  }
  return count;
}
