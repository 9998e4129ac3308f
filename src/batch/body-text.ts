import { decoderOf } from "../platform/charset.ts";
import { decodeUtf8 } from "../platform/utf8.ts";

/** Returns the text, or null where it is not of the encoding; UTF-8 where that is null. */
export function textOf(body: Uint8Array, encoding: string | null): string | null {
  const text = encoding === null ? decodeUtf8(body) : decoded(body, encoding);
  return text === null || text.length === body.byteLength ? text : narrowed(text);
}

function decoded(body: Uint8Array, encoding: string): string | null {
  try {
    return decoderOf(encoding)?.decode(body) ?? null;
  } catch {
    return null;
  }
}

/**
 * The same text with one octet for each letter where all are of Latin-1: with two, as the decoder leaves one that is not
 * ASCII, all that is cut out of it and put together of that takes longer to write.
 */
function narrowed(text: string): string {
  const narrow = Buffer.from(text, "latin1").toString("latin1");
  return narrow === text ? narrow : text;
}
