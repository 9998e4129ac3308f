type ByteRange = { readonly first: number; readonly last: number };

/** Returns the requested range; null if it is missing or malformed, which is ignored (RFC 9110). */
export function askedRange(request: Request, etag: string): RegExpExecArray | null {
  const ifRange = request.headers.get("if-range");
  const parts = /^bytes=(?=\d*-\d|\d)(\d*)-(\d*)$/.exec(request.headers.get("range") ?? "");
  return ifRange === null || ifRange === etag ? parts : null;
}

/** Returns the bytes of the range that there are. */
export function rangeWithin(
  [, from = "", to = ""]: RegExpExecArray,
  length: number,
): ByteRange | "unsatisfiable" {
  const first = from === "" ? Math.max(0, length - Number(to)) : Number(from);
  const last = from === "" || to === "" ? length - 1 : Math.min(Number(to), length - 1);
  return first > last || first >= length ? "unsatisfiable" : { first, last };
}

/** Yields this many bytes of the source. */
export async function* limited(
  source: AsyncGenerator<Uint8Array, void, undefined>,
  bytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let left = bytes;
  for await (const piece of source) {
    yield left < piece.byteLength ? piece.subarray(0, left) : piece;
    left -= piece.byteLength;
    if (left <= 0) return;
  }
}
