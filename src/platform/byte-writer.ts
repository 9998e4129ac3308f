const BYTES_FIRST = 16_384;
/** Memory that is kept from one text to the next: the results of the largest chunk of short items. */
const BYTES_KEPT_MAX = 4_194_304;
/** A UTF-16 unit takes at most this many octets of UTF-8. */
const OCTETS_PER_UNIT_MAX = 3;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NULL = new TextEncoder().encode("null");
/** Of each ASCII character whether it stands for itself within JSON. */
const IS_PLAIN = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(code >= 0x20 && code < 0x7f && code !== QUOTE && code !== BACKSLASH),
);
/** Fewer bytes than this are copied faster one by one: 8 in 8 ns instead of 15, 32 in 18 ns either way. */
const COPIED_AT_ONCE_MIN = 24;

/**
 * Writes a text piece by piece as UTF-8, into memory that is used again. Of a text that is encoded as a whole, one letter
 * that is not Latin makes all of it take four times as long; here, only its piece.
 */
export class ByteWriter {
  #bytes = new Uint8Array(BYTES_FIRST);
  #used = 0;
  /** A text of one piece is encoded without a copy. */
  #pending = "";
  readonly #encoder = new TextEncoder();

  /** Forgets what was written and has not ended. */
  begin(): void {
    this.#used = 0;
    this.#pending = "";
  }

  text(text: string): void {
    if (this.#pending !== "") this.#encodePending();
    this.#pending = text;
  }

  bytes(bytes: Uint8Array): void {
    const { length } = bytes;
    const target = this.#roomFor(length);
    let used = this.#used;
    if (length < COPIED_AT_ONCE_MIN) for (let at = 0; at < length; at++) target[used++] = bytes[at] ?? 0;
    else target.set(bytes, used);
    this.#used += length;
  }

  /** Writes text[start, end), which must be ASCII. */
  ascii(text: string, start: number, end: number): void {
    const target = this.#roomFor(end - start);
    let used = this.#used;
    for (let at = start; at < end; at++) target[used++] = text.charCodeAt(at);
    this.#used = used;
  }

  /** Writes text[start, end) between quotes; it must stand for itself within JSON. */
  quoted(text: string, start: number, end: number): void {
    const target = this.#roomFor(end - start + 2);
    let used = this.#used;
    target[used++] = QUOTE;
    for (let at = start; at < end; at++) target[used++] = text.charCodeAt(at);
    target[used++] = QUOTE;
    this.#used = used;
  }

  /**
   * Writes a text between quotes in groups that end at `ends`, with one of the marks between each two. Text and marks must
   * stand for themselves within JSON.
   */
  grouped(text: string, ends: readonly number[], marks: string): void {
    const target = this.#roomFor(text.length + ends.length + 1);
    let used = this.#used;
    target[used++] = QUOTE;
    let at = 0;
    for (let group = 0; group < ends.length; group++) {
      if (group > 0) target[used++] = marks.charCodeAt(group - 1);
      for (const end = ends[group] ?? 0; at < end; at++) target[used++] = text.charCodeAt(at);
    }
    target[used++] = QUOTE;
    this.#used = used;
  }

  /** Writes a text, or null, as JSON has it. */
  json(text: string | null): void {
    if (text === null) {
      this.bytes(NULL);
      return;
    }
    const { length } = text;
    const target = this.#roomFor(length + 2);
    let used = this.#used;
    target[used++] = QUOTE;
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at);
      if (IS_PLAIN[code] !== 1) {
        this.text(JSON.stringify(text));
        return;
      }
      target[used++] = code;
    }
    target[used++] = QUOTE;
    this.#used = used;
  }

  /** Writes a number that is not infinite. */
  number(value: number): void {
    const text = String(value);
    this.ascii(text, 0, text.length);
  }

  /** Returns what was written since the beginning, in memory of its own. */
  end(): Uint8Array<ArrayBuffer> {
    if (this.#used === 0) return this.#encoder.encode(this.#pending);
    if (this.#pending !== "") this.#encodePending();
    const written = this.#bytes.slice(0, this.#used);
    if (this.#bytes.byteLength > BYTES_KEPT_MAX) this.#bytes = new Uint8Array(BYTES_FIRST);
    return written;
  }

  /** The memory, with room for `bytes` more, and with all that was written. */
  #roomFor(bytes: number): Uint8Array {
    if (this.#pending !== "") this.#encodePending();
    if (this.#used + bytes > this.#bytes.byteLength) this.#grow(bytes);
    return this.#bytes;
  }

  #encodePending(): void {
    const text = this.#pending;
    this.#pending = "";
    const target = this.#roomFor(text.length * OCTETS_PER_UNIT_MAX);
    this.#used += this.#encoder.encodeInto(text, target.subarray(this.#used)).written;
  }

  #grow(bytes: number): void {
    const larger = new Uint8Array(Math.max(this.#bytes.byteLength * 2, this.#used + bytes));
    larger.set(this.#bytes.subarray(0, this.#used));
    this.#bytes = larger;
  }
}
