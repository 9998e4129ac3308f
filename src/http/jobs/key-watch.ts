import { ApiError } from "../../contract/errors.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Guard } from "../auth.ts";
import type { Call } from "../call.ts";

export type KeyWatch = {
  readonly guard: Pick<Guard, "isStillValid">;
  readonly clock: Pick<Clock, "monotonic">;
};

/** Half of the second within which a deleted key is refused on every node is for the news to arrive. */
const ASKED_EVERY_MS = 500;

/** Passes the parts of a reply on while the key of its call works. Throws `bad_key` where it has ended, since a quiet end would look like the whole. */
export async function* whileKeyWorks(
  parts: AsyncGenerator<Uint8Array, void, undefined>,
  call: Call,
  { guard, clock }: KeyWatch,
): AsyncGenerator<Uint8Array, void, undefined> {
  let askedMs = clock.monotonic();
  for await (const part of parts) {
    if (clock.monotonic() - askedMs >= ASKED_EVERY_MS) {
      if (!(await guard.isStillValid(call))) throw new ApiError("bad_key");
      askedMs = clock.monotonic();
    }
    yield part;
  }
}
