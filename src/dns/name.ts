/** Domain names, as text and in wire format (RFC 1035, 3.1 and 4.1.4). */

const NAME_CHARACTERS_MAX = 253;
const NAME_OCTETS_MAX = 255;
const LABEL_OCTETS_MAX = 63;
const POINTER = 0xc0;
const POINTER_OCTETS = 2;
/** The labels of the longest name: with a pointer for each, no name needs more. */
const POINTERS_MAX = 127;
const DOT = 0x2e;
const BACKSLASH = 0x5c;

/** Returns a name in lower case without the last dot; the root is ".". */
export function normalName(name: string): string {
  const lower = name.toLowerCase();
  return lower.length > 1 && lower.endsWith(".") ? lower.slice(0, -1) : lower;
}

/**
 * Returns whether a name has labels of 1 to 63 printable ASCII characters, none a backslash, and at most 253
 * characters.
 */
export function isEncodable(name: string): boolean {
  const end = textEnd(name);
  if (end < 1 || end > NAME_CHARACTERS_MAX) return false;
  let labelStart = 0;
  for (let at = 0; at <= end; at++) {
    const code = at === end ? DOT : name.charCodeAt(at);
    if (code === DOT) {
      if (at === labelStart || at - labelStart > LABEL_OCTETS_MAX) return false;
      labelStart = at + 1;
    } else if (code <= 0x20 || code >= 0x7f || code === BACKSLASH) return false;
  }
  return true;
}

/** Returns the number of octets of an encodable name in wire format. */
export function nameOctets(name: string): number {
  return textEnd(name) + 2;
}

/** Writes an encodable name, and returns where it ends. */
export function writeName(octets: Uint8Array, start: number, name: string): number {
  const end = textEnd(name);
  let lengthAt = start;
  for (let at = 0; at < end; at++) {
    const code = name.charCodeAt(at);
    const to = start + 1 + at;
    if (code === DOT) {
      octets[lengthAt] = to - lengthAt - 1;
      lengthAt = to;
    } else octets[to] = code;
  }
  const rootAt = start + 1 + end;
  octets[lengthAt] = rootAt - lengthAt - 1;
  octets[rootAt] = 0;
  return rootAt + 1;
}

function textEnd(name: string): number {
  return name.endsWith(".") ? name.length - 1 : name.length;
}

/** Returns the end of the name at `start`, a compression pointer included; -1 for an invalid name. */
export function skipName(message: Uint8Array, start: number): number {
  let at = start;
  for (;;) {
    const length = message[at];
    if (length === undefined) return -1;
    if (length === 0) return at + 1;
    if (length >= POINTER) return at + POINTER_OCTETS <= message.length ? at + POINTER_OCTETS : -1;
    if (length > LABEL_OCTETS_MAX) return -1;
    at += length + 1;
  }
}

/**
 * Reads the name at `start` in lower case, without the last dot; the root is ".". Octets that are not printable
 * ASCII, and dots within a label, are escaped as `\046`, so that names stay distinct. Null for an invalid name:
 * pointers must lead backwards and be few, which bounds the work.
 */
export function readName(message: Uint8Array, start: number): string | null {
  let textEnd = 0;
  let octets = 1;
  let at = start;
  let pointersBelow = start;
  let pointers = 0;
  for (;;) {
    const length = message[at];
    if (length === undefined) return null;
    if (length === 0) return textEnd === 0 ? "." : text.toString("latin1", 0, textEnd);
    if (length >= POINTER) {
      const low = message[at + 1];
      if (low === undefined) return null;
      at = ((length & ~POINTER) << 8) | low;
      if (at >= pointersBelow || ++pointers > POINTERS_MAX) return null;
      pointersBelow = at;
      continue;
    }
    const end = at + 1 + length;
    octets += length + 1;
    if (length > LABEL_OCTETS_MAX || octets > NAME_OCTETS_MAX || end > message.length) return null;
    if (textEnd > 0) text[textEnd++] = DOT;
    for (at += 1; at < end; at++) textEnd = writeOctet(textEnd, message[at] ?? 0);
  }
}

/** Scratch memory for the name that is read: an octet takes at most the four characters of `\255`. */
const text = Buffer.allocUnsafe(NAME_OCTETS_MAX * 4);

/** Writes an octet of a label as text, and returns its end. */
function writeOctet(at: number, octet: number): number {
  if (octet >= 0x41 && octet <= 0x5a) text[at] = octet | 0x20;
  else if (octet > 0x20 && octet < 0x7f && octet !== DOT && octet !== BACKSLASH) text[at] = octet;
  else return at + text.write(`\\${String(octet).padStart(3, "0")}`, at, "latin1");
  return at + 1;
}
