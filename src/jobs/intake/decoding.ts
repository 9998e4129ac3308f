import { decoderOf, encodingOf } from "../../platform/charset.ts";
import { type MistakenForm, whyNoText } from "../../tables/mistaken-form.ts";
import type { Refusal } from "./records.ts";

/** An input that cannot be decoded. */
export class DecodingError extends Error {
  override readonly name = "DecodingError";
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** Passes pieces on. Throws a DecodingError where there are more than `bytesMax` bytes. */
export async function* withinBytes(
  pieces: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    if (bytes > bytesMax) {
      const message = `The body has more than ${bytesMax} bytes when it is decoded.`;
      throw new DecodingError({ code: "payload_too_large", message });
    }
    yield piece;
  }
}

/** Text in UTF-8 without a byte order mark, whatever it is written in. Throws a DecodingError where it is no text. */
export async function* toUtf8(
  pieces: AsyncIterable<Uint8Array>,
  named: string | null,
): AsyncGenerator<Uint8Array, void, undefined> {
  let decoder: TextDecoder | null = null;
  let isFirst = true;
  const encoder = new TextEncoder();
  for await (const piece of pieces) {
    if (isFirst) {
      isFirst = false;
      refuseMistaken(piece, named);
      const encoding = encodingOf(named, piece);
      if (encoding !== null) decoder = decoderFor(encoding);
      const mark = decoder === null && piece[0] === 0xef && piece[1] === 0xbb && piece[2] === 0xbf ? 3 : 0;
      yield decoder === null ? piece.subarray(mark) : encoder.encode(decode(decoder, piece));
    } else {
      yield decoder === null ? piece : encoder.encode(decode(decoder, piece));
    }
  }
  if (decoder !== null) yield encoder.encode(decode(decoder, null));
}

/** Throws a DecodingError where the first bytes are those of no text, or of an encoding that must be named. */
function refuseMistaken(first: Uint8Array, named: string | null): void {
  const advise = ({ coding, advice }: MistakenForm) =>
    coding === null ? advice : `unpack it first, or send it with Content-Encoding: ${coding}`;
  const nameEncoding = named === null ? (found: string) => `name it with encoding=${found}` : null;
  const message = whyNoText(first, { name: "The body", advise, nameEncoding });
  if (message !== null) throw new DecodingError({ code: "invalid_request", message });
}

/** Throws a DecodingError where the label, which `name` gave, names no encoding. */
export function decoderFor(label: string, name = "encoding"): TextDecoder {
  const decoder = decoderOf(label);
  if (decoder !== null) return decoder;
  const message = `${name} is no known encoding; try utf-8, windows-1252 or utf-16le.`;
  throw new DecodingError({ code: "invalid_request", message });
}

function decode(decoder: TextDecoder, piece: Uint8Array | null): string {
  try {
    return piece === null ? decoder.decode() : decoder.decode(piece, { stream: true });
  } catch {
    throw new DecodingError({
      code: "invalid_request",
      message: `The body is not ${decoder.encoding} text.`,
    });
  }
}
