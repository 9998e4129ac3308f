import { createAccounts } from "../src/accounts/accounts.ts";
import { systemRandomBytes } from "../src/accounts/api-key.ts";
import { createKeyRing } from "../src/accounts/key-ring.ts";
import { createBillingClock } from "../src/billing/billing-clock.ts";
import { createMeter } from "../src/billing/meter.ts";
import { DEFAULT_PLANS } from "../src/billing/plans.ts";
import type { Clock } from "../src/platform/clock.ts";
import type { EmbeddedStore } from "../src/store/port.ts";

/** What counts and bills over a store, and accounts on its largest plan. */
export function openAccounts(store: EmbeddedStore, clock: Clock) {
  const plans = DEFAULT_PLANS;
  const keyRing = createKeyRing({ store, plans, clock });
  const billingClock = createBillingClock({ store, clock });
  const meter = createMeter({ store, plans, clock: billingClock, planChanged: keyRing.forget });
  const accounts = createAccounts({
    store,
    meter,
    keyRing,
    plans,
    clock: billingClock,
    randomBytes: systemRandomBytes,
  });
  const nothing = { name: null, company: null, country: null, referralCode: null };
  const signUp = (email: string) => accounts.signup({ ...nothing, email, normalized: email, plan: "scale" });
  return { keyRing, meter, accounts, signUp };
}
