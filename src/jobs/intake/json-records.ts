import { parseJson } from "../../platform/json-value.ts";
import { identityOf } from "./line-records.ts";
import { RECORD_BYTES_MAX, type RecordSink, type Refusal, type Span, textOf, tooLong } from "./records.ts";

/** What a JSON body says beside its items, and what its items are. */
export type JsonBody = {
  readonly fields: { readonly [name: string]: unknown };
  /** The place of the first item that is an object, or null where there is none. */
  readonly firstObject: number | null;
};

export type JsonOutcome = { readonly refusal: Refusal } | { readonly body: JsonBody };

/** Characters of all that stands beside the items. */
const FIELDS_BYTES_MAX = 65_536;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Reads a JSON object with one long list, `items`, without ever having it whole. Every value is checked by
 * `JSON.parse`, but for strings that need no more than a look.
 */
export async function readJsonRecords(
  pieces: AsyncIterable<Uint8Array>,
  sink: RecordSink,
): Promise<JsonOutcome> {
  const input = createInput(pieces);
  const fields: { [name: string]: unknown } = Object.create(null);
  let firstObject: number | null = null;
  let items = 0;
  let hasItems = false;
  let fieldBytes = 0;

  if ((await input.next()) !== OPEN_OBJECT) {
    return refuse(input.hasEnded() ? "The body is not valid JSON." : null);
  }
  input.skip();
  if ((await input.next()) === CLOSE_OBJECT) return closing();
  for (;;) {
    const name = await readField();
    if (typeof name !== "string") return name;
    if (name === "items" && (await input.next()) === OPEN_LIST) {
      if (hasItems) return refuse("items comes twice.", "invalid_request");
      hasItems = true;
      const refusal = await readItems();
      if (refusal !== null) return { refusal };
    } else {
      const value = await readValue();
      if ("refusal" in value) return value;
      fields[name] = value.value;
    }
    const sign = await input.next();
    if (sign === COMMA) input.skip();
    else if (sign === CLOSE_OBJECT) return closing();
    else return refuse();
  }

  async function readField(): Promise<string | { readonly refusal: Refusal }> {
    if ((await input.next()) !== QUOTE) return refuse();
    const name = await readValue();
    if ("refusal" in name) return name;
    if (typeof name.value !== "string" || (await input.next()) !== COLON) return refuse();
    input.skip();
    await input.next();
    return name.value;
  }

  async function readValue(): Promise<{ readonly value: unknown } | { readonly refusal: Refusal }> {
    const span = await input.value();
    if (span === null) return refuse();
    fieldBytes += span.end - span.start;
    if (fieldBytes > FIELDS_BYTES_MAX) {
      return refuse(`More than ${FIELDS_BYTES_MAX} bytes stand beside items.`, "invalid_request");
    }
    const value = parseJson(textOf(span));
    return value === undefined ? refuse() : { value };
  }

  async function readItems(): Promise<Refusal | null> {
    input.skip();
    if ((await input.next()) === CLOSE_LIST) {
      input.skip();
      return null;
    }
    for (;;) {
      await input.next();
      const span = await input.value();
      if (span === null) return input.isTooLong() ? tooLong(items + 1) : refuse().refusal;
      const refusal = takeItem(span);
      if (refusal !== null) return refusal;
      items += 1;
      const sign = await input.next();
      input.skip();
      if (sign === CLOSE_LIST) return null;
      if (sign !== COMMA) return refuse().refusal;
    }
  }

  function takeItem(span: Span): Refusal | null {
    if (isPlain(span)) {
      return sink.take("ndjson", span, { bytes: span.bytes, start: span.start + 1, end: span.end - 1 });
    }
    const value = parseJson(textOf(span));
    if (value === undefined) return refuse(`items[${items}] is not valid JSON.`).refusal;
    const identity = identityOf(value, "value");
    if (identity === null) {
      const message = `items[${items}] (row ${items + 1}) must be a string, or an object with the string value.`;
      return { code: "invalid_request", message };
    }
    if (typeof value !== "string") firstObject ??= items;
    return sink.takeText("ndjson", JSON.stringify(value), identity);
  }

  async function closing(): Promise<JsonOutcome> {
    input.skip();
    if ((await input.next()) !== -1) return refuse();
    if (!hasItems) return refuse("items must be an array.", "invalid_request");
    return { body: { fields, firstObject } };
  }
}

function refuse(
  message: string | null = "The body is not valid JSON.",
  code: Refusal["code"] = "invalid_json",
): { readonly refusal: Refusal } {
  if (message === null)
    return { refusal: { code: "invalid_request", message: "The body must be an object with items." } };
  return { refusal: { code, message } };
}

/** A string without an escape or a control character: it is JSON as it stands. */
function isPlain({ bytes, start, end }: Span): boolean {
  if (bytes[start] !== QUOTE) return false;
  for (let at = start + 1; at < end - 1; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === BACKSLASH || byte < SPACE) return false;
  }
  return true;
}

/** The bytes of a body, of which as much is held as one value takes. */
function createInput(pieces: AsyncIterable<Uint8Array>) {
  const source = pieces[Symbol.asyncIterator]();
  let bytes: Uint8Array = new Uint8Array(0);
  let at = 0;
  let ended = false;

  /** Appends the next piece to what is not read yet; false at the end. */
  async function more(): Promise<boolean> {
    const { done, value } = await source.next();
    if (done === true) {
      ended = true;
      return false;
    }
    bytes = at === bytes.byteLength ? value : Buffer.concat([bytes.subarray(at), value]);
    at = 0;
    return true;
  }

  return {
    /** Passes over white space and returns the byte that follows, -1 at the end. */
    async next(): Promise<number> {
      for (;;) {
        while (at < bytes.byteLength && isSpace(bytes[at] ?? 0)) at += 1;
        if (at < bytes.byteLength) return bytes[at] ?? -1;
        if (!(await more())) return -1;
      }
    },
    skip(): void {
      at += 1;
    },
    /** The bytes of the value that begins here; null where there is none or it is too long. */
    async value(): Promise<Span | null> {
      for (;;) {
        const end = valueEnd(bytes, at, ended);
        if (end > at) {
          const span = { bytes, start: at, end };
          at = end;
          return span;
        }
        if (end === at || bytes.byteLength - at > RECORD_BYTES_MAX) return null;
        await more();
      }
    },
    isTooLong: () => bytes.byteLength - at > RECORD_BYTES_MAX,
    hasEnded: () => ended,
  };
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** The end of the value at `start`; `start` where none can begin or end there; -1 where more bytes must decide. */
function valueEnd(bytes: Uint8Array, start: number, isWhole: boolean): number {
  const first = bytes[start];
  const missing = isWhole ? start : -1;
  if (first === undefined) return missing;
  if (first === QUOTE) {
    const end = stringEnd(bytes, start);
    return end === -1 ? missing : end;
  }
  if (first !== OPEN_LIST && first !== OPEN_OBJECT) {
    for (let at = start; at < bytes.byteLength; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT || isSpace(byte)) return at;
    }
    return isWhole ? bytes.byteLength : -1;
  }
  let depth = 0;
  for (let at = start; at < bytes.byteLength; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      const end = stringEnd(bytes, at);
      if (end === -1) return missing;
      at = end - 1;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return missing;
}

/** The place behind the closing quote of a string, or -1. */
function stringEnd(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.byteLength; at++) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) return at + 1;
  }
  return -1;
}
