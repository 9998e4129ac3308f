import type { Clock } from "../platform/clock.ts";
import type { Facilitator } from "./facilitator.ts";
import type { Network } from "./networks.ts";

/** Caches the fee payer of each Solana network, as reported by the facilitator. */
export type FeePayers = {
  /** Returns a look-up by network. Refreshes it in the background once it is old; only the first call waits. */
  readonly current: () => Promise<(network: Network) => string | null>;
};

const FRESH_MS = 600_000;
const RETRY_MS = 5000;

export function createFeePayers(dependencies: {
  readonly facilitator: Pick<Facilitator, "feePayers">;
  readonly clock: Clock;
}): FeePayers {
  const { facilitator, clock } = dependencies;
  let known: ReadonlyMap<string, string> | null = null;
  let nextMs = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;

  async function ask(): Promise<void> {
    const reported = await facilitator.feePayers();
    known = reported ?? known;
    nextMs = clock.monotonic() + (reported === null ? RETRY_MS : FRESH_MS);
    asking = null;
  }

  return {
    async current() {
      if (asking === null && clock.monotonic() >= nextMs) asking = ask();
      if (known === null && asking !== null) await asking;
      return ({ id }) => known?.get(id) ?? null;
    },
  };
}
