import { notUtf8, type Refusal } from "./records.ts";

/** The text of a CSV, in which its first fault stands as a NUL: the row that holds it is known once it is parsed. */
export type CsvText = {
  readonly pieces: AsyncGenerator<string, void, undefined>;
  /** Returns why a row with these cells is refused, or null. Rows are taken in order, and `row` is counted from 1. */
  readonly faultOf: (cells: readonly string[], row: number) => Refusal | null;
  /** Returns why the whole is refused where its rows are not known; null where no fault was read. */
  readonly wholeFault: () => Refusal | null;
};

type Fault = "nul" | "encoding";

const NUL = "\0";
const WHOLE_FAULTS: { readonly [fault in Fault]: string } = {
  nul: "The body is not text: it has a NUL character.",
  encoding: "The body is not UTF-8; name the encoding with encoding=.",
};
const SEQUENCE_BYTES_MAX = 4;

export function createCsvText(pieces: AsyncIterator<Uint8Array>): CsvText {
  const strict = new TextDecoder("utf-8", { fatal: true });
  /** Reads what is behind bytes that are not UTF-8. */
  let lenient: TextDecoder | null = null;
  /** The last bytes, among them those of a character that the next piece ends. */
  let last: Uint8Array = new Uint8Array(0);
  let fault: Fault | null = null;

  function withNoted(text: string): string {
    if (fault === null && text.includes(NUL)) fault = "nul";
    return text;
  }

  function decode(piece: Uint8Array): string {
    if (lenient !== null) return lenient.decode(piece, { stream: true });
    try {
      const text = strict.decode(piece, { stream: true });
      last = unfinished(Buffer.concat([last, piece.subarray(-SEQUENCE_BYTES_MAX)]));
      return withNoted(text);
    } catch {
      const bytes = Buffer.concat([last, piece]);
      const end = wellFormedBytes(bytes);
      const text = withNoted(new TextDecoder("utf-8", IN_MIDST).decode(bytes.subarray(0, end), STREAMED));
      fault ??= "encoding";
      lenient = new TextDecoder("utf-8", IN_MIDST);
      return `${text}${NUL}${lenient.decode(bytes.subarray(end), STREAMED)}`;
    }
  }

  /** Where the last character is cut off, that is a fault, too. */
  function decodeEnd(): string {
    if (lenient !== null || last.byteLength === 0) return "";
    fault ??= "encoding";
    return NUL;
  }

  async function* texts() {
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
      yield decode(next.value);
    }
    yield decodeEnd();
  }

  return {
    pieces: texts(),
    faultOf(cells, row) {
      if (fault === null || !cells.some((cell) => cell.includes(NUL))) return null;
      return fault === "encoding" ? notUtf8(row) : hasNul(row);
    },
    wholeFault: () => (fault === null ? null : { code: "invalid_request", message: WHOLE_FAULTS[fault] }),
  };
}

const IN_MIDST = { ignoreBOM: true };
const STREAMED = { stream: true };

/** Returns the refusal of an input that has such a row. */
export function hasNul(row: number): Refusal {
  return { code: "invalid_request", message: `Row ${row} has a NUL character.` };
}

/** Returns the bytes of the character that is not whole at the end of UTF-8; none where it is. */
function unfinished(bytes: Uint8Array): Uint8Array {
  for (let count = 1; count < SEQUENCE_BYTES_MAX && count <= bytes.byteLength; count++) {
    const byte = bytes.at(-count) ?? 0;
    if (byte < 0x80) break;
    // A byte that begins a character says how long it is.
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return count < length ? bytes.slice(-count) : new Uint8Array(0);
    }
  }
  return new Uint8Array(0);
}

/** Returns how many bytes can be decoded before the first one that cannot. */
function wellFormedBytes(bytes: Uint8Array): number {
  let [good, bad] = [0, bytes.byteLength];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, middle), STREAMED);
      good = middle;
    } catch {
      bad = middle;
    }
  }
  return good;
}
