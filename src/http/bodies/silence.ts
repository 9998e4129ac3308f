import { ApiError } from "../../contract/errors.ts";

/**
 * Yields the parts of a body. Throws `invalid_request` where the next one does not arrive within `silenceMs`: its caller
 * may be gone without a word. The time in which a part is worked on does not count.
 */
export async function* withinSilence(
  parts: AsyncGenerator<Uint8Array, void, undefined>,
  silenceMs: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (;;) {
    const { promise: silence, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(fellSilent(silenceMs)), silenceMs);
    try {
      const { done, value } = await Promise.race([parts.next(), silence]);
      if (done === true) return;
      clearTimeout(timer);
      yield value;
    } finally {
      clearTimeout(timer);
    }
  }
}

function fellSilent(silenceMs: number): ApiError {
  return new ApiError("invalid_request", `Nothing of the body arrived for ${silenceMs / 1_000} seconds.`);
}
