/**
 * Bytes of inputs and results that one transaction erases. SQLite overwrites each page of them, and writes it to its log,
 * while all calls wait.
 */
const BODY_BYTES_PER_STEP = 1_048_576;

/** Returns the first of some chunks, in their order: as many as their bodies fill a step, at least one. */
export function erasedTogether(
  chunks: readonly number[],
  bodies: readonly { readonly n: number; readonly bytes: number }[],
): number[] {
  const bytesOf = new Map<number, number>();
  for (const { n, bytes } of bodies) bytesOf.set(n, (bytesOf.get(n) ?? 0) + bytes);
  let left = BODY_BYTES_PER_STEP;
  return chunks.filter((n, at) => {
    left -= bytesOf.get(n) ?? 0;
    return at === 0 || left >= 0;
  });
}
