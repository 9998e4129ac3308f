import { isObject } from "../../platform/json-value.ts";
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  createJsonInput,
  isPlainString,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from "./json-input.ts";
import { faultOf, hasWrongType, identityOf, parseItem, TYPE_DEMAND } from "./line-records.ts";
import {
  notUtf8,
  RECORD_BYTES_MAX,
  type RecordSink,
  type Refusal,
  type Span,
  tooLong,
  utf8TextOf,
} from "./records.ts";

/** What a JSON body says beside its items, and what its items are. */
export type JsonBody = {
  readonly fields: { readonly [name: string]: unknown };
  /** The place of the first item that is an object, or null without one. */
  readonly firstObject: number | null;
};

type Refused = { readonly refusal: Refusal };
export type JsonOutcome = Refused | { readonly body: JsonBody };

const NOT_JSON: Refused = { refusal: { code: "invalid_json", message: "The body is not valid JSON." } };
const NO_OBJECT = invalid("The body must be an object with items.");
const NO_LIST = invalid("items must be an array.");
const NOT_UTF8 = invalid("The body is not UTF-8; name the encoding with encoding=.");

/** Characters of all that stands beside the items. */
const FIELDS_BYTES_MAX = 65_536;

/**
 * Reads a JSON object with one long list, `items`, without ever having it whole. Every value is checked by
 * `JSON.parse`, but for strings that need no more than a look.
 */
export async function readJsonRecords(
  pieces: AsyncIterable<Uint8Array>,
  sink: RecordSink,
): Promise<JsonOutcome> {
  const input = createJsonInput(pieces);
  const fields: { [name: string]: unknown } = Object.create(null);
  let firstObject: number | null = null;
  let items = 0;
  let hasItems = false;
  let fieldBytes = 0;

  if ((await input.next()) !== OPEN_OBJECT) return input.hasEnded() ? NOT_JSON : NO_OBJECT;
  input.skip();
  if ((await input.next()) === CLOSE_OBJECT) return closing();
  for (;;) {
    const name = await readField();
    if (typeof name !== "string") return name;
    if (name === "items" && hasItems) return invalid("items comes twice.");
    if (name === "items" && (await input.next()) === OPEN_LIST) {
      hasItems = true;
      const refusal = await readItems();
      if (refusal !== null) return { refusal };
    } else {
      const value = await readValue();
      if ("refusal" in value) return value;
      if (name === "items") return NO_LIST;
      fields[name] = value.value;
    }
    const sign = await input.next();
    if (sign === COMMA) input.skip();
    else if (sign === CLOSE_OBJECT) return closing();
    else return NOT_JSON;
  }

  async function readField(): Promise<string | Refused> {
    if ((await input.next()) !== QUOTE) return NOT_JSON;
    const name = await readValue();
    if ("refusal" in name) return name;
    if (typeof name.value !== "string" || (await input.next()) !== COLON) return NOT_JSON;
    input.skip();
    await input.next();
    return name.value;
  }

  async function readValue(): Promise<{ readonly value: unknown } | Refused> {
    const span = await input.value();
    if (span === null) return NOT_JSON;
    fieldBytes += span.end - span.start;
    if (fieldBytes > FIELDS_BYTES_MAX) {
      return invalid(`More than ${FIELDS_BYTES_MAX} bytes stand beside items.`);
    }
    const text = utf8TextOf(span);
    if (text === null) return NOT_UTF8;
    const value = parseItem(text);
    return faultOf(value) === null ? { value } : NOT_JSON;
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
      if (span === null) return input.isTooLong() ? tooLong(items + 1) : NOT_JSON.refusal;
      if (span.end - span.start > RECORD_BYTES_MAX) return tooLong(items + 1);
      const refusal = takeItem(span);
      if (refusal !== null) return refusal;
      items += 1;
      const sign = await input.next();
      input.skip();
      if (sign === CLOSE_LIST) return null;
      if (sign !== COMMA) return NOT_JSON.refusal;
    }
  }

  function takeItem(span: Span): Refusal | null {
    if (isPlainString(span)) {
      return sink.take("ndjson", span, { bytes: span.bytes, start: span.start + 1, end: span.end - 1 });
    }
    const text = utf8TextOf(span);
    if (text === null) return notUtf8(items + 1);
    const value = parseItem(text);
    const fault = faultOf(value);
    if (fault !== null) return { code: "invalid_json", message: `items[${items}] ${fault}` };
    if (hasWrongType(value)) return invalid(`items[${items}] (row ${items + 1}): ${TYPE_DEMAND}`).refusal;
    const identity = identityOf(value, "value", true);
    if (identity === null) {
      const demand = "must be a string, or an object with the string value.";
      return invalid(`items[${items}] (row ${items + 1}) ${demand}`).refusal;
    }
    if (typeof value !== "string") firstObject ??= items;
    // What else an object holds is never read, and may take very long to write: a nest with the name toJSON does.
    const kept = isObject(value) ? { type: value.type, value: value.value } : value;
    return sink.takeText("ndjson", JSON.stringify(kept), identity);
  }

  async function closing(): Promise<JsonOutcome> {
    input.skip();
    if ((await input.next()) !== -1) return NOT_JSON;
    if (!hasItems) return NO_LIST;
    return { body: { fields, firstObject } };
  }
}

function invalid(message: string): Refused {
  return { refusal: { code: "invalid_request", message } };
}
