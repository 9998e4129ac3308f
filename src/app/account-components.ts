import { createAccounts } from "../accounts/accounts.ts";
import { createKeys } from "../accounts/key-list.ts";
import type { KeyRing } from "../accounts/key-ring.ts";
import type { BillingClock } from "../billing/billing-clock.ts";
import type { Idempotency } from "../billing/idempotency.ts";
import type { Meter } from "../billing/meter.ts";
import { planOf } from "../billing/plans.ts";
import { withTestTenants } from "../billing/test-meter.ts";
import type { AccountingStore } from "../store/port.ts";
import type { Platform } from "./platform.ts";
import type { Config } from "./settings.ts";

export type AccountComponentsDependencies<Stored extends AccountingStore> = {
  readonly store: Stored;
  readonly billingClock: BillingClock;
  readonly keyRing: KeyRing;
  readonly meter: Meter;
  readonly idempotency: Idempotency;
};

/** Returns what routes have of accounts and money, on the store of one server as on that of a cluster. */
export function accountComponents<Stored extends AccountingStore>(
  { plans, selfServePlans }: Pick<Config, "plans" | "selfServePlans">,
  { clock, randomBytes }: Pick<Platform, "clock" | "randomBytes">,
  dependencies: AccountComponentsDependencies<Stored>,
) {
  const { store, billingClock, keyRing, meter } = dependencies;
  const account = { store, meter, keyRing, plans, clock: billingClock, randomBytes };
  return {
    ...dependencies,
    meter: withTestTenants(meter, planOf(plans, "free")),
    accounts: createAccounts({ ...account, selfServePlans }),
    keys: createKeys({ store, keyRing, clock, randomBytes }),
  };
}
