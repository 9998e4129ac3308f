import type { Check } from "../http/routes/health.ts";
import type { ReachableFacilitator } from "../payments/facilitator.ts";
import type { Payee } from "../payments/offer.ts";
import type { Clock } from "../platform/clock.ts";
import type { PaymentStore } from "../store/payment-port.ts";
import { databaseCheck } from "./database-check.ts";
import { createReach } from "./reach.ts";

/** What /health does to find out whether calls can be paid. */
export type PaymentChecks = { readonly database: Check; readonly facilitator: Check };

/** Returns the checks of the journal, which is written to, and of the facilitator. */
export function paymentChecks({
  store,
  facilitator,
  payees,
  clock,
}: {
  readonly store: Pick<PaymentStore, "probe">;
  readonly facilitator: Pick<ReachableFacilitator, "feePayers" | "replies">;
  readonly payees: readonly Payee[];
  readonly clock: Clock;
}): PaymentChecks {
  // On Solana nothing is offered without its fee payer; on Base any reply will do.
  const isSolanaAlone = payees.every(({ network }) => network.kind === "solana");
  const reach = createReach(clock, async () =>
    isSolanaAlone ? (await facilitator.feePayers()) !== null : await facilitator.replies(),
  );
  return {
    database: databaseCheck(store, clock),
    facilitator: {
      fallback: "warn",
      run: async (signal) => {
        const reached = await reach(signal);
        const found = { observed: null, unit: null };
        if (reached === "reached") return { ...found, status: "pass" };
        if (reached === "doubtful")
          return { ...found, status: "warn", output: "The payment facilitator did not answer." };
        const output = "The payment facilitator does not answer: no call can be paid.";
        return { ...found, status: "fail", output };
      },
    },
  };
}
