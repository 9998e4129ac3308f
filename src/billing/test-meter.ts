import { isTestTenant, ownerOf } from "../platform/test-tenant.ts";
import type { Meter } from "./meter.ts";
import type { Plan } from "./plans.ts";
import type { Reservation } from "./reservation.ts";

/** Returns a meter for test keys: it charges nothing and counts no calls. */
export function withTestTenants(meter: Meter, freePlan: Plan): Meter {
  return {
    ...meter,
    reserve: (account, units, options) =>
      isTestTenant(account.accountId)
        ? freeReservation(
            meter.reserve({ accountId: ownerOf(account.accountId) }, 0, { isCall: false }),
            units,
          )
        : meter.reserve(account, units, options),
    unitsLeft: (account) =>
      isTestTenant(account.accountId) ? Number.POSITIVE_INFINITY : meter.unitsLeft(account),
    covers: (account, units) => isTestTenant(account.accountId) || meter.covers(account, units),
    mayCover: (account, units) => isTestTenant(account.accountId) || meter.mayCover(account, units),
    countCall(account, endpoint) {
      if (!isTestTenant(account.accountId)) meter.countCall(account, endpoint);
    },
    month(account) {
      if (!isTestTenant(account.accountId)) return meter.month(account);
      const { resetSeconds } = meter.month({ accountId: ownerOf(account.accountId) });
      const { includedUnits } = freePlan;
      return { limitUnits: includedUnits, remainingUnits: includedUnits, isHardStop: false, resetSeconds };
    },
    enter: (accountId) => meter.enter(ownerOf(accountId)),
    ledger: (accountId) => meter.ledger(ownerOf(accountId)),
  };
}

/** Writes the records that accompany a charge, without units. */
function freeReservation(held: Reservation, units: number): Reservation {
  return {
    accountId: held.accountId,
    units,
    record: ({ endpoint }, reply, chunk, onCommit) =>
      held.record({ endpoint, units: 0 }, reply, chunk, onCommit),
    release: () => held.release(),
    chargedUnits: () => 0,
  };
}
