/** Returns a decoder that throws where bytes are no such text; null where the label names no encoding. */
export function decoderOf(label: string): TextDecoder | null {
  try {
    return new TextDecoder(label as Bun.Encoding, { fatal: true });
  } catch {
    return null;
  }
}

/**
 * Returns the label of the encoding of a text by what is named and its first bytes; null for UTF-8. Of UTF-16 a byte order
 * mark says which of the two it is, whatever is named.
 */
export function encodingOf(named: string | null, first: Uint8Array): string | null {
  const marked = encodingByMark(first);
  const encoding = marked !== null && named !== null && isUtf16(named) ? marked : (named ?? marked);
  return encoding === null || /^utf-?8$/i.test(encoding) ? null : encoding;
}

function encodingByMark([first, second]: Uint8Array): string | null {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : null;
}

function isUtf16(label: string): boolean {
  return decoderOf(label)?.encoding.startsWith("utf-16") === true;
}
