import { parseJson } from "../../platform/json-value.ts";
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
import { hasWrongType, identityOf, TYPE_DEMAND } from "./line-records.ts";
import { RECORD_BYTES_MAX, type RecordSink, type Refusal, type Span, textOf, tooLong } from "./records.ts";

/** What a JSON body says beside its items, and what its items are. */
export type JsonBody = {
  readonly fields: { readonly [name: string]: unknown };
  /** The place of the first item that is an object, or null without one. */
  readonly firstObject: number | null;
};

export type JsonOutcome = { readonly refusal: Refusal } | { readonly body: JsonBody };

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

  if ((await input.next()) !== OPEN_OBJECT) {
    return refuse(input.hasEnded() ? "The body is not valid JSON." : null);
  }
  input.skip();
  if ((await input.next()) === CLOSE_OBJECT) return closing();
  for (;;) {
    const name = await readField();
    if (typeof name !== "string") return name;
    if (name === "items" && hasItems) return refuse("items comes twice.", "invalid_request");
    if (name === "items" && (await input.next()) === OPEN_LIST) {
      hasItems = true;
      const refusal = await readItems();
      if (refusal !== null) return { refusal };
    } else {
      const value = await readValue();
      if ("refusal" in value) return value;
      if (name === "items") return refuse("items must be an array.", "invalid_request");
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
      if (span.end - span.start > RECORD_BYTES_MAX) return tooLong(items + 1);
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
    if (isPlainString(span)) {
      return sink.take("ndjson", span, { bytes: span.bytes, start: span.start + 1, end: span.end - 1 });
    }
    const value = parseJson(textOf(span));
    if (value === undefined) return refuse(`items[${items}] is not valid JSON.`).refusal;
    if (hasWrongType(value))
      return refuse(`items[${items}] (row ${items + 1}): ${TYPE_DEMAND}`, "invalid_request").refusal;
    const identity = identityOf(value, "value", true);
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
