import { ApiError } from "../../contract/errors.ts";
import { within } from "../../platform/within.ts";

/**
 * Yields the parts of a body. Throws `invalid_request` where the next one does not arrive within `silenceMs`: its caller
 * may be gone without a word. The time in which a part is worked on does not count.
 */
export async function* withinSilence(
  parts: AsyncGenerator<Uint8Array, void, undefined>,
  silenceMs: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (;;) {
    const next = await within(parts.next(), silenceMs);
    if (next === null) {
      const message = `Nothing of the body arrived for ${silenceMs / 1_000} seconds.`;
      throw new ApiError("invalid_request", message);
    }
    const { done, value } = next.result;
    if (done === true) return;
    yield value;
  }
}
