import type { Clock } from "../platform/clock.ts";
import type { KeptClock, OperatorPort } from "../store/operator-port.ts";
import { type BillingClock, createBillingClock } from "./billing-clock.ts";

export type SharedBillingClock = BillingClock & {
  /** Reads the kept time anew; what other processes kept and operators confirmed is known from then on. */
  readonly reread: () => Promise<void>;
};

/** Opens the clock of billing on a store that has to be waited for. */
export async function openSharedClock(dependencies: {
  readonly store: Pick<OperatorPort, "findKeptClock" | "keepClock">;
  readonly clock: Clock;
  readonly onProblem: (error: unknown) => void;
}): Promise<SharedBillingClock> {
  const { store, clock, onProblem } = dependencies;
  let known: KeptClock | null = await store.findKeptClock();
  const billingClock = createBillingClock({
    store: {
      findKeptClock: () => known,
      keepClock: (keptAt) => {
        known = { keptAt, confirmedAt: known?.confirmedAt ?? null };
        Promise.resolve(store.keepClock(keptAt)).catch(onProblem);
      },
    },
    clock,
  });
  return {
    ...billingClock,
    reread: async () => {
      known = await store.findKeptClock();
    },
  };
}
