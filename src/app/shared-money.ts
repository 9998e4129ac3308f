import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clearErased } from "../accounts/account-erasure.ts";
import { watchChanges } from "../accounts/change-watch.ts";
import { removeEndedKeys } from "../accounts/ended-keys.ts";
import { createKeyExpiry } from "../accounts/key-expiry.ts";
import { createKeyRing } from "../accounts/key-ring.ts";
import { createBilling } from "../billing/billing.ts";
import { createIdempotency } from "../billing/idempotency.ts";
import { createSharedClaims } from "../billing/shared-claims.ts";
import { openSharedClock } from "../billing/shared-clock.ts";
import { createSharedMeter } from "../billing/shared-meter.ts";
import { createPace } from "../jobs/pace.ts";
import type { LeasePort } from "../store/lease-port.ts";
import { openSharedStore } from "../store/postgres/open.ts";
import { holdDataDir } from "../store/sqlite/data-dir/data-dir.ts";
import { accountComponents } from "./account-components.ts";
import { errorFacts } from "./log.ts";
import type { Platform } from "./platform.ts";
import type { Config } from "./settings.ts";
import { EXPIRE_INTERVAL_MS, PRUNE_INTERVAL_MS, repeatUpkeep } from "./upkeep.ts";

const SECOND_MS = 1_000;
const RENEW_CLAIMS_MS = 5_000;
/** What other nodes keep and remove counts on this one after this long. */
const RECOUNT_MS = 3_600_000;
const REMOVE_KEYS_MS = 3_600_000;
/** Longer than any call that another node began in the month may take. */
const INVOICE_DELAY_MS = 180_000;

type SharedMoneyConfig = Pick<
  Config,
  "dataDir" | "databaseDirectUrl" | "plans" | "selfServePlans" | "limits"
>;

/** Opens the database of a cluster, and all that a node of it counts and bills. */
export async function openSharedMoney(
  config: SharedMoneyConfig,
  platform: Pick<Platform, "clock" | "log" | "randomBytes">,
  url: string,
  stack: AsyncDisposableStack,
) {
  const { dataDir, databaseDirectUrl: directUrl, plans, limits } = config;
  const { clock, log, randomBytes } = platform;
  // Two processes that take each other for their own former one would end each other's leases.
  stack.use(holdDataDir(dataDir));
  const report = (what: string) => (error: unknown) => log.error(what, errorFacts(error));
  const processId = Buffer.from(randomBytes(16)).toString("hex");
  const store = await openSharedStore({ url, directUrl, clock, processId });
  stack.defer(() => store.close());
  await releaseFormer(store, join(dataDir, "process"), processId);
  const keyRing = createKeyRing({ store, plans, clock });
  stack.defer(() => keyRing.flushUses());
  const billingClock = await openSharedClock({ store, clock, onProblem: report("keeping the time failed") });
  const pace = createPace({ clock });
  const meter = createSharedMeter({
    store,
    plans,
    clock: billingClock,
    planChanged: keyRing.forget,
    onCallsWait: pace.observe,
  });
  stack.defer(() => meter.close());
  const billing = createBilling({ store, meter, clock: billingClock, invoiceDelayMs: INVOICE_DELAY_MS });
  stack.defer(billing.start(report("billing failed")));
  stack.defer(createKeyExpiry({ store, clock: billingClock }).start(report("events of keys failed")));
  const claims = createSharedClaims({ store });
  // A count that reads a cold disk takes longer than it may: a node starts without it, and counts again.
  const uncounted = report("counting kept replies failed");
  let isCounted = true;
  const kept = await Promise.resolve(store.keptReplies()).catch((error: unknown) => {
    isCounted = false;
    uncounted(error);
    return [];
  });
  const idempotency = createIdempotency({
    // Replies are in their rows, where every node finds them.
    store: { ...store, keptReplies: () => kept, replyFiles: () => [] },
    directory: null,
    clock: billingClock,
    keptBytesMax: limits.keptReplyBytesMax,
    claims,
  });
  const every = (everyMs: number, work: (signal: AbortSignal) => Promise<unknown>, what: string) =>
    repeatUpkeep(work, { everyMs, reportError: report(what) }, stack);
  every(SECOND_MS, billingClock.reread, "reading the kept time failed");
  every(RENEW_CLAIMS_MS, claims.renew, "renewing the claims of keys failed");
  void every(EXPIRE_INTERVAL_MS, idempotency.expire, "pruning failed")();
  const removeKeys = (signal: AbortSignal) => removeEndedKeys({ store, clock: billingClock }, signal);
  void every(REMOVE_KEYS_MS, removeKeys, "removing ended keys failed")();
  void every(PRUNE_INTERVAL_MS, () => clearErased(store), "clearing erased accounts failed")();
  const recount = async () => {
    idempotency.recount(await store.keptReplies());
    isCounted = true;
  };
  repeatUpkeep(recount, { everyMs: RECOUNT_MS, reportError: uncounted }, stack);
  const countLate = async () => {
    if (!isCounted) await recount();
  };
  void repeatUpkeep(countLate, { everyMs: EXPIRE_INTERVAL_MS, reportError: uncounted }, stack)();
  stack.defer(
    watchChanges({
      store,
      clock,
      changed: (accountId) => {
        keyRing.forget(accountId);
        meter.forget(accountId);
      },
      lost: () => {
        keyRing.forgetAll();
        meter.forgetAll();
      },
    }),
  );
  const parts = { store, billingClock, keyRing, meter, idempotency };
  return { ...accountComponents(config, platform, parts), pace, processId };
}

/** Puts back what the former process of this data directory held when it died, and notes this one in its place. */
async function releaseFormer(store: LeasePort, file: string, processId: string): Promise<void> {
  const former = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  if (former !== "") await store.releaseLeases(former);
  writeFileSync(file, processId, { mode: 0o600 });
}
