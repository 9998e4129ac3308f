import { join } from "node:path";
import { clearErased } from "../accounts/account-erasure.ts";
import { createAccounts } from "../accounts/accounts.ts";
import { removeEndedKeys } from "../accounts/ended-keys.ts";
import { createKeyExpiry } from "../accounts/key-expiry.ts";
import { createKeyRing } from "../accounts/key-ring.ts";
import { createOperators } from "../accounts/operator-commands.ts";
import { createBilling } from "../billing/billing.ts";
import { createBillingClock } from "../billing/billing-clock.ts";
import { createIdempotency } from "../billing/idempotency.ts";
import { createMeter } from "../billing/meter.ts";
import { REPLY_FOLDER } from "../store/data-folders.ts";
import { openStore } from "../store/sqlite/open.ts";
import { accountComponents } from "./account-components.ts";
import { errorFacts } from "./log.ts";
import type { Platform } from "./platform.ts";
import type { Config } from "./settings.ts";
import { EXPIRE_INTERVAL_MS, PRUNE_INTERVAL_MS, repeatUpkeep } from "./upkeep.ts";

const HOUR_MS = 3_600_000;

/** Opens the database, and all that counts and bills. */
export function openMoney(config: Config, platform: Platform, stack: AsyncDisposableStack) {
  const { dataDir, plans, limits } = config;
  const { clock, log, randomBytes } = platform;
  const report = (what: string) => (error: unknown) => log.error(what, errorFacts(error));
  const store = openStore({ dataDir, clock });
  stack.defer(() => store.close());
  const keyRing = createKeyRing({ store, plans, clock });
  stack.defer(keyRing.flushUses);
  const billingClock = createBillingClock({ store, clock });
  const meter = createMeter({ store, plans, clock: billingClock, planChanged: keyRing.forget });
  stack.defer(() => meter.close());
  const billing = createBilling({ store, meter, clock: billingClock });
  stack.defer(billing.start(report("billing failed")));
  const keyExpiry = createKeyExpiry({ store, clock: billingClock });
  stack.defer(keyExpiry.start(report("events of keys failed")));
  const account = { store, meter, keyRing, plans, clock: billingClock, randomBytes };
  const clearing = { everyMs: PRUNE_INTERVAL_MS, reportError: report("clearing erased accounts failed") };
  const clearNow = repeatUpkeep(() => clearErased(store), clearing, stack);
  void clearNow();
  const operators = createOperators({
    ...account,
    // Operators set any plan.
    accounts: createAccounts(account),
    clock,
    // Other commands do not wait for it.
    clearErased: () => void clearNow(),
  });
  stack.defer(operators.start(report("an operator's command failed")));
  const directory = join(dataDir, REPLY_FOLDER);
  const idempotency = createIdempotency({
    store,
    directory,
    clock: billingClock,
    keptBytesMax: limits.keptReplyBytesMax,
  });
  const reportError = report("pruning failed");
  void repeatUpkeep(() => idempotency.prune(), { everyMs: HOUR_MS, reportError }, stack)();
  const removeKeys = (signal: AbortSignal) => removeEndedKeys({ store, clock: billingClock }, signal);
  void repeatUpkeep(removeKeys, { everyMs: HOUR_MS, reportError }, stack)();
  repeatUpkeep(() => idempotency.expire(), { everyMs: EXPIRE_INTERVAL_MS, reportError }, stack);
  const parts = { store, billingClock, keyRing, meter, idempotency };
  return { ...accountComponents(config, platform, parts), pace: null };
}
