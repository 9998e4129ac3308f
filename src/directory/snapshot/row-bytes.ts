const [TAB, LINE_END, RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** Returns a chunk without leading space. A byte order mark counts as space, also where chunks divide it. */
export function withoutLeadingSpace(chunk: Uint8Array): Uint8Array {
  let at = 0;
  while (at < chunk.length && (isSpace(chunk[at] ?? 0) || BYTE_ORDER_MARK.includes(chunk[at] ?? 0))) at++;
  return chunk.subarray(at);
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === LINE_END || byte === RETURN || byte === TAB;
}

/** Creates a buffer for the bytes of one row across chunks. A row over the limit is dropped. */
export function createRowBuffer(rowBytesMax: number) {
  let bytes = new Uint8Array(4096);
  let length = 0;
  let dropped = false;
  return {
    add(part: Uint8Array): void {
      if (length + part.length > rowBytesMax) dropped = true;
      if (dropped) return;
      if (length + part.length > bytes.length) {
        const larger = new Uint8Array(Math.max(bytes.length * 2, length + part.length));
        larger.set(bytes.subarray(0, length));
        bytes = larger;
      }
      bytes.set(part, length);
      length += part.length;
    },
    /** Returns the row, or null for a dropped one, and empties the buffer. */
    take(): Uint8Array | null {
      const row = dropped ? null : bytes.subarray(0, length);
      length = 0;
      dropped = false;
      return row;
    },
  };
}
