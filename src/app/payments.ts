import { systemAddressLookup } from "../net/address-lookup.ts";
import { createHttpClient } from "../net/http-client.ts";
import { createFacilitator } from "../payments/facilitator.ts";
import { createFacilitatorFetch } from "../payments/facilitator-fetch.ts";
import { createPayments, type Payments } from "../payments/payments.ts";
import type { FairTurns } from "../platform/fair-turns.ts";
import { openPayments } from "../store/sqlite/side-databases/payments/open-payments.ts";
import { errorFacts } from "./log.ts";
import { type PaymentChecks, paymentChecks } from "./payment-checks.ts";
import type { PaymentConfig } from "./payment-settings.ts";
import type { Platform } from "./platform.ts";
import { PRUNE_INTERVAL_MS, repeatUpkeep } from "./upkeep.ts";

const VERIFY_DEADLINE_MS = 10_000;
/** A settlement waits for the chain. */
const SETTLE_DEADLINE_MS = 20_000;
const POLL_DELAY_MS = 1000;
const IN_FLIGHT_MAX = 2000;
/** A quarter of all, so that no payer keeps the others out; an unverified payment counts for its client's address. */
const IN_FLIGHT_PER_PAYER_MAX = 500;

/**
 * Opens the journal of a data directory that this process holds, and what takes payments on it; settlements that a
 * former process left open are cleared up from now on. Throws a StoreOpenError.
 */
export function openPaymentParts(
  { dataDir, payment }: { readonly dataDir: string; readonly payment: PaymentConfig },
  { clock, log, turns }: Pick<Platform, "clock" | "log"> & { readonly turns: FairTurns },
  stack: AsyncDisposableStack,
): { readonly payments: Payments; readonly checks: PaymentChecks } {
  const database = openPayments(dataDir, clock);
  stack.defer(() => database[Symbol.dispose]());
  const client = createHttpClient(
    { lookUp: systemAddressLookup, clock },
    {
      // The operator names it, so it may stand in a network of one's own.
      allowPrivate: true,
      acceptGzip: true,
      limits: {
        headTimeoutMs: SETTLE_DEADLINE_MS,
        idleTimeoutMs: SETTLE_DEADLINE_MS,
        totalTimeoutMs: SETTLE_DEADLINE_MS,
      },
    },
  );
  const facilitator = createFacilitator({
    url: payment.facilitatorUrl,
    fetch: createFacilitatorFetch(client),
    verifyDeadlineMs: VERIFY_DEADLINE_MS,
    settleDeadlineMs: SETTLE_DEADLINE_MS,
  });
  const reportError = (error: unknown) => log.error("payment failed", errorFacts(error));
  const payments = stack.use(
    createPayments(
      { store: database.payments, facilitator, clock, turns, reportError },
      {
        payees: payment.payees,
        pollDelayMs: POLL_DELAY_MS,
        inFlightMax: IN_FLIGHT_MAX,
        inFlightPerPayerMax: IN_FLIGHT_PER_PAYER_MAX,
      },
    ),
  );
  repeatUpkeep((signal) => payments.prune(signal), { everyMs: PRUNE_INTERVAL_MS, reportError }, stack);
  payments.start();
  const { payees } = payment;
  return { payments, checks: paymentChecks({ store: database.payments, facilitator, payees, clock }) };
}
