import type { ByteWriter } from "../../platform/byte-writer.ts";

const encoder = new TextEncoder();
const NULL = encoder.encode("null");
const TRUE = encoder.encode("true");
const FALSE = encoder.encode("false");

/** Returns the JSON before the value of each field of the details, by its name. */
export function fieldStarts<Details extends object>(
  details: Details,
): { readonly [name in keyof Details]: Uint8Array } {
  return Object.fromEntries(
    Object.keys(details).map((name, at) => [name, encoder.encode(`${at === 0 ? "" : ","}"${name}":`)]),
  ) as { readonly [name in keyof Details]: Uint8Array };
}

export function writeBoolean(value: boolean | null, writer: ByteWriter): void {
  writer.bytes(value === null ? NULL : value ? TRUE : FALSE);
}

export function writeNumber(value: number | null, writer: ByteWriter): void {
  if (value === null) writer.bytes(NULL);
  else writer.number(value);
}

/** Writes the slice of a text, which must be letters and digits of ASCII; null without a slice. */
export function writeStretch(
  text: string,
  stretch: { readonly start: number; readonly end: number } | null,
  writer: ByteWriter,
): void {
  if (stretch === null) writer.bytes(NULL);
  else writer.quoted(text, stretch.start, stretch.end);
}

/** The memo of JSON by value: as many as the tables of all types have. */
const known = new Map<string | readonly string[] | null, Uint8Array>();

/** Writes a text or list of a table, or null. */
export function writeKnown(value: string | readonly string[] | null, writer: ByteWriter): void {
  let json = known.get(value);
  if (json === undefined) {
    json = encoder.encode(JSON.stringify(value));
    known.set(value, json);
  }
  writer.bytes(json);
}
