import type { BatchKind } from "../../batch/messages.ts";
import { DOCUMENT_TYPES, isDocumentType } from "../../contract/words.ts";
import { isObject, parseJson, TOO_DEEP, TOO_MANY_VALUES } from "../../platform/json-value.ts";
import { ITEM_FIELDS } from "./item-fields.ts";
import {
  eachLine,
  isBlank,
  notUtf8,
  type RecordSink,
  type Refusal,
  type Span,
  utf8TextOf,
} from "./records.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
/** Values of an item. */
const VALUES_MAX = 500_000;
/** Nesting of an item, as of other bodies. */
const DEPTH_MAX = 512;

/** Reads one item a line. Blank lines are passed over. */
export function readTextRecords(
  pieces: AsyncIterable<Uint8Array>,
  sink: RecordSink,
): Promise<Refusal | null> {
  return eachLine(pieces, (line) => (isBlank(line) ? null : sink.take("text", line, line)));
}

/** Reads on each line a JSON string, or an object with the item in the field of its kind. Blank lines are passed over. */
export function readNdjsonRecords(
  pieces: AsyncIterable<Uint8Array>,
  sink: RecordSink,
  kind: BatchKind,
): Promise<Refusal | null> {
  const field = ITEM_FIELDS[kind];
  const isTyped = kind === "identity";
  let row = 0;
  return eachLine(pieces, (line, number) => {
    if (isBlank(line)) return null;
    row += 1;
    if (isPlainString(line)) {
      const item = { bytes: line.bytes, start: line.start + 1, end: line.end - 1 };
      return sink.take("ndjson", line, item);
    }
    const text = utf8TextOf(line);
    if (text === null) return notUtf8(row);
    const value = parseItem(text);
    const fault = faultOf(value);
    if (fault !== null) return { code: "invalid_json", message: `Line ${number} ${fault}` };
    if (isTyped && hasWrongType(value)) {
      return { code: "invalid_request", message: `Row ${row} (line ${number}): ${TYPE_DEMAND}` };
    }
    const identity = identityOf(value, field, isTyped);
    if (identity === null) {
      const message = `Row ${row} (line ${number}) is neither a string nor an object with the string "${field}".`;
      return { code: "invalid_request", message };
    }
    return sink.takeText("ndjson", text.trim(), identity);
  });
}

/** Parses an item, or what stands beside the items. `faultOf` says why the value is none. */
export function parseItem(text: string): unknown {
  return parseJson(text, VALUES_MAX, DEPTH_MAX);
}

/** Returns why a value of `parseItem` is refused, or null. */
export function faultOf(value: unknown): string | null {
  if (value === undefined) return "is not valid JSON.";
  if (value === TOO_DEEP) return `is nested more than ${DEPTH_MAX} deep.`;
  if (value === TOO_MANY_VALUES) return `holds more than ${VALUES_MAX} values.`;
  return null;
}

/**
 * Returns the text by which duplicates of an item are found, or null where a value holds no item. With `isTyped` the key
 * of an item with a type begins with a NUL, the type and a line end; one that has no type and begins with a NUL itself is
 * escaped, so that different items have different keys. Otherwise a type is ignored, as other fields are.
 */
export function identityOf(value: unknown, field: string, isTyped: boolean): string | null {
  if (typeof value === "string") return escaped(value);
  if (!isObject(value)) return null;
  const item = value[field];
  if (typeof item !== "string") return null;
  const { type } = value;
  if (!isTyped || type === undefined || type === null) return escaped(item);
  return `\0${type}\n${item}`;
}

/** Returns whether an item names a type that is not in `DOCUMENT_TYPES`. */
export function hasWrongType(value: unknown): boolean {
  if (!isObject(value) || value.type === undefined || value.type === null) return false;
  return typeof value.type !== "string" || !isDocumentType(value.type);
}

export const TYPE_DEMAND = `type must be one of ${DOCUMENT_TYPES.join(", ")}.`;

function escaped(item: string): string {
  return item.startsWith("\0") ? `\0\n${item}` : item;
}

/** A JSON string without escapes, control characters or space around it: most lines of a list that a machine wrote. */
function isPlainString({ bytes, start, end }: Span): boolean {
  if (end - start < 2 || bytes[start] !== QUOTE || bytes[end - 1] !== QUOTE) return false;
  for (let at = start + 1; at < end - 1; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE || byte === BACKSLASH || byte < SPACE) return false;
  }
  return true;
}
