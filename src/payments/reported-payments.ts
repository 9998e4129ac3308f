import type { Clock } from "../platform/clock.ts";

/** What fails behind a settlement fails again each time that the payment is sent: it is reported this often. */
const REPORTED_EVERY_MS = 3_600_000;
/** Beyond these, the payment that was reported longest ago is reported anew. */
const PAYMENTS_MAX = 1000;

/** Returns what reports the failures of payments, one an hour of each payment. */
export function createPaymentReports(
  clock: Pick<Clock, "monotonic">,
  reportError: (error: unknown) => void,
): (paymentId: string, error: unknown) => void {
  const reportedMs = new Map<string, number>();
  return (paymentId, error) => {
    const now = clock.monotonic();
    const before = reportedMs.get(paymentId);
    if (before !== undefined && now - before < REPORTED_EVERY_MS) return;
    reportedMs.delete(paymentId);
    const [oldest] = reportedMs.keys();
    if (oldest !== undefined && reportedMs.size >= PAYMENTS_MAX) reportedMs.delete(oldest);
    reportedMs.set(paymentId, now);
    reportError(error);
  };
}
