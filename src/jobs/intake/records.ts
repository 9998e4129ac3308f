import { isUtf8 } from "node:buffer";
import type { ErrorCode } from "../../contract/errors.ts";

/** How the records of a chunk are written down, one a line. `cells` is a JSON array of a CSV record's cells. */
export type RecordForm = "text" | "ndjson" | "csv" | "cells";

/** Reads a form that the store keeps as text. */
export function recordFormOf(form: string): RecordForm {
  if (form === "text" || form === "ndjson" || form === "csv" || form === "cells") return form;
  throw new Error(`the store has a chunk of the form ${form}`);
}

/** Why an input is refused: words for the caller, with the row. */
export type Refusal = { readonly code: ErrorCode; readonly message: string };

/** A run of bytes, [start, end), in a buffer that is valid until the call that gets it returns. */
export type Span = { readonly bytes: Uint8Array; readonly start: number; readonly end: number };

/** Takes the records of an input in order. Returns why the input is refused, or null. */
export type RecordSink = {
  /** `item` is what duplicates of the record are found by: the bytes of the text that is verified. */
  readonly take: (form: RecordForm, record: Span, item: Span) => Refusal | null;
  /** Takes a record whose item is not a part of its bytes. */
  readonly takeText: (form: RecordForm, record: string, item: string) => Refusal | null;
};

/** A record longer than this is no record of such a list. */
export const RECORD_BYTES_MAX = 1_048_576;

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const DELETE = 0x7f;

/**
 * Splits bytes into lines without their ends (LF, CR LF) and gives each to `onLine`, blank ones too, until it refuses
 * one. Returns the refusal, or null at the end of the bytes.
 */
export async function eachLine(
  pieces: AsyncIterable<Uint8Array>,
  onLine: (line: Span, number: number) => Refusal | null,
): Promise<Refusal | null> {
  let carry: Uint8Array = new Uint8Array(0);
  let number = 0;
  const give = (bytes: Uint8Array, start: number, end: number) => {
    number += 1;
    return onLine({ bytes, start, end: end > start && bytes[end - 1] === RETURN ? end - 1 : end }, number);
  };
  for await (const piece of pieces) {
    const bytes = carry.byteLength === 0 ? piece : Buffer.concat([carry, piece]);
    let start = 0;
    for (
      let end = bytes.indexOf(NEWLINE, carry.byteLength);
      end !== -1;
      end = bytes.indexOf(NEWLINE, start)
    ) {
      if (end - start > RECORD_BYTES_MAX) return tooLong(number + 1);
      const refusal = give(bytes, start, end);
      if (refusal !== null) return refusal;
      start = end + 1;
    }
    carry = bytes.slice(start);
    if (carry.byteLength > RECORD_BYTES_MAX) return tooLong(number + 1);
  }
  return carry.byteLength === 0 ? null : give(carry, 0, carry.byteLength);
}

/** Returns the refusal of an input that has such a row. */
export function tooLong(row: number): Refusal {
  return { code: "invalid_request", message: `Row ${row} is longer than ${RECORD_BYTES_MAX} bytes.` };
}

/** Returns the refusal of an input that has a row which is not UTF-8. */
export function notUtf8(row: number): Refusal {
  return { code: "invalid_request", message: `Row ${row} is not UTF-8; name the encoding with encoding=.` };
}

/** Whether a line holds nothing but white space. */
export function isBlank({ bytes, start, end }: Span): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte > SPACE && byte < DELETE) return false;
    if (byte >= DELETE) return textOf({ bytes, start, end }).trim() === "";
    // Of the control characters only these are white space.
    if (byte !== SPACE && (byte < 0x09 || byte > RETURN)) return false;
  }
  return true;
}

/** Returns the text of a run of bytes, or null where they are not UTF-8. */
export function utf8TextOf(span: Span): string | null {
  return isUtf8(span.bytes.subarray(span.start, span.end)) ? textOf(span) : null;
}

/** Returns the text of a run of bytes; what is not UTF-8 of it is replaced. */
function textOf({ bytes, start, end }: Span): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8");
}
