/** The encoding and the line ends of a file. A CSV output has those of its input. */
export type TextForm = {
  readonly encoding: WrittenEncoding;
  /** Whether the file begins with a byte order mark. */
  readonly hasMark: boolean;
  readonly lineEnd: "\n" | "\r\n";
};

/** Encodings that can be written; an input in any other one gets an output in UTF-8. */
export type WrittenEncoding = "utf-8" | "utf-16le" | "utf-16be";

export const PLAIN_TEXT: TextForm = { encoding: "utf-8", hasMark: false, lineEnd: "\n" };

/** Returns the encoding of the byte order mark at the start, or null. */
export function encodingByMark(bytes: Uint8Array): WrittenEncoding | null {
  const [a, b, c] = bytes;
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  return a === 0xef && b === 0xbb && c === 0xbf ? "utf-8" : null;
}

/** Returns the encoding in which the output of an input is written. */
export function writtenEncoding(name: string): WrittenEncoding {
  return name === "utf-16le" || name === "utf-16be" ? name : "utf-8";
}

/** Returns a text in an encoding, without a byte order mark. */
export function encodeText(text: string, encoding: WrittenEncoding): Buffer {
  if (encoding === "utf-8") return Buffer.from(text);
  const bytes = Buffer.from(text, "utf16le");
  return encoding === "utf-16le" ? bytes : bytes.swap16();
}
