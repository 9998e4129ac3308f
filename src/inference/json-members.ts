/** The range of a value in the text of a JSON object. */
export type Span = { readonly start: number; readonly end: number };

/**
 * Returns the ranges of the values of an object's own members in its text; of duplicate names the last, as `JSON.parse`
 * does. The text must be an object that `JSON.parse` accepts. Linear.
 */
export function memberSpans(text: string): ReadonlyMap<string, Span> {
  const spans = new Map<string, Span>();
  let at = text.indexOf("{") + 1;
  for (;;) {
    at = skipSpace(text, at);
    if (text[at] !== '"') return spans;
    const nameEnd = endOfString(text, at);
    const name: string = JSON.parse(text.slice(at, nameEnd));
    const start = skipSpace(text, text.indexOf(":", nameEnd) + 1);
    const end = endOfValue(text, start);
    spans.set(name, { start, end });
    at = skipSpace(text, end) + 1;
  }
}

/**
 * Sets some members in the text of a JSON object, and keeps everything else verbatim, such as numbers that JavaScript cannot
 * represent. Values are JSON.
 */
export function withMembers(text: string, members: { readonly [name: string]: string }): string {
  const spans = memberSpans(text);
  const replaced = Object.entries(members).flatMap(([name, json]) => {
    const span = spans.get(name);
    return span === undefined ? [] : [{ ...span, json }];
  });
  const added = Object.entries(members).filter(([name]) => !spans.has(name));
  let changed = text;
  for (const { start, end, json } of replaced.toSorted((a, b) => b.start - a.start)) {
    changed = changed.slice(0, start) + json + changed.slice(end);
  }
  if (added.length === 0) return changed;
  const close = changed.lastIndexOf("}");
  const fields = added.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",");
  return `${changed.slice(0, close)}${spans.size > 0 ? "," : ""}${fields}${changed.slice(close)}`;
}

const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d, 0x0a]);

function skipSpace(text: string, from: number): number {
  let at = from;
  while (BLANKS.has(text.charCodeAt(at))) at += 1;
  return at;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const [DIGIT_0, DIGIT_9] = [0x30, 0x39];
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** Returns the end of the string that starts here, in valid JSON. */
export function endOfString(text: string, from: number): number {
  // Strings may have megabytes: the native search finds the quotes.
  for (let at = text.indexOf('"', from + 1); ; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
}

const NUMBER = /[\d.eE+-]+/y;

/** Yields the numbers of a JSON value in a text, as they are written. */
export function* numbersWithin(text: string, start: number, end: number): Generator<string> {
  for (let at = start; at < end; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === MINUS || (code >= DIGIT_0 && code <= DIGIT_9)) {
      NUMBER.lastIndex = at;
      const [number = ""] = NUMBER.exec(text) ?? [];
      yield number;
      at += number.length;
    } else at += 1;
  }
}

/** Returns the end of the value that starts here. */
function endOfValue(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return endOfString(text, from);
  let at = from;
  if (first !== OPENING_BRACKET && first !== OPENING_BRACE) {
    while (at < text.length && !/[,}\] \t\r\n]/.test(text[at] ?? "")) at += 1;
    return at;
  }
  for (let depth = 0; ; ) {
    const code = text.charCodeAt(at);
    at = code === QUOTE ? endOfString(text, at) : at + 1;
    if (code === OPENING_BRACKET || code === OPENING_BRACE) depth += 1;
    else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) depth -= 1;
    if (depth === 0) return at;
  }
}
