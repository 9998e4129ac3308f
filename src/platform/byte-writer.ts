const BYTES_FIRST = 16_384;
/** Bytes of the reused buffer: the results of the largest chunk of short items. */
const BYTES_KEPT_MAX = 4_194_304;
/** Most octets of a UTF-16 unit in UTF-8. */
const OCTETS_PER_UNIT_MAX = 3;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NULL = new TextEncoder().encode("null");
/** For each ASCII character, whether JSON strings contain it unescaped. */
const IS_PLAIN = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(code >= 0x20 && code < 0x7f && code !== QUOTE && code !== BACKSLASH),
);
/** Below this many bytes a loop copies faster: 8 in 8 ns instead of 15, 32 in 18 ns either way. */
const COPIED_AT_ONCE_MIN = 24;

/**
 * Writes a text piece by piece as UTF-8 into a reused buffer. When a text is encoded as a whole, one non-Latin letter makes
 * all of it take four times as long; here, only its piece.
 */
export class ByteWriter {
  #bytes = new Uint8Array(BYTES_FIRST);
  #used = 0;
  /** A text of one piece, which is encoded without a copy. */
  #pending = "";
  readonly #encoder = new TextEncoder();

  /** Discards an unfinished text. */
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

  /** Writes text[start, end) between quotes; it must need no escapes. */
  quoted(text: string, start: number, end: number): void {
    const target = this.#roomFor(end - start + 2);
    let used = this.#used;
    target[used++] = QUOTE;
    for (let at = start; at < end; at++) target[used++] = text.charCodeAt(at);
    target[used++] = QUOTE;
    this.#used = used;
  }

  /**
   * Writes a text between quotes in groups that end at `ends`, separated by the marks. Text and marks must need no escapes.
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

  /** Writes a text or null as JSON. */
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

  /** Writes a finite number. */
  number(value: number): void {
    const text = String(value);
    this.ascii(text, 0, text.length);
  }

  /** Returns a copy of the written bytes. */
  end(): Uint8Array<ArrayBuffer> {
    if (this.#used === 0) return this.#encoder.encode(this.#pending);
    if (this.#pending !== "") this.#encodePending();
    const written = this.#bytes.slice(0, this.#used);
    if (this.#bytes.byteLength > BYTES_KEPT_MAX) this.#bytes = new Uint8Array(BYTES_FIRST);
    return written;
  }

  /** Returns the buffer with the written bytes and room for `bytes` more. */
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
