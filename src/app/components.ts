import { join } from "node:path";
import { type Accounts, createAccounts } from "../accounts/accounts.ts";
import { createKeyExpiry } from "../accounts/key-expiry.ts";
import { createKeys, type Keys } from "../accounts/key-list.ts";
import { createKeyRing, type KeyRing } from "../accounts/key-ring.ts";
import { createOperators } from "../accounts/operator-commands.ts";
import { createBodyChunker } from "../batch/body-chunker.ts";
import { createChunkVerifier } from "../batch/chunk-verifier.ts";
import { createFairLookups } from "../batch/fair-lookups.ts";
import { createGatherFacts } from "../batch/gather-facts.ts";
import { createPool, type PoolTasks } from "../batch/pool.ts";
import { type BatchRunner, createBatchRunner, waitingTasksMax } from "../batch/runner.ts";
import { createFactsBuffer } from "../batch/shared-facts.ts";
import { createEmailWriter } from "../batch/written-email.ts";
import { createBilling } from "../billing/billing.ts";
import { type BillingClock, createBillingClock } from "../billing/billing-clock.ts";
import { createIdempotency, type Idempotency } from "../billing/idempotency.ts";
import { createMeter, type Meter } from "../billing/meter.ts";
import { type PlanCatalogue, planOf } from "../billing/plans.ts";
import { createRateLimiter, type RateLimiter } from "../billing/rate-limiter.ts";
import { withTestTenants } from "../billing/test-meter.ts";
import { createDirectory, type Directory } from "../directory/directory.ts";
import { createSyncThread } from "../directory/sync/sync-thread.ts";
import { createDnsCache, type DnsCache } from "../dns/cache.ts";
import { createStubResolver, type StubResolver } from "../dns/resolver.ts";
import { serversOf } from "../dns/system-servers.ts";
import {
  createDenialWatch,
  type DenialWatch,
  type DenialWatchDependencies,
} from "../domains/denial-watch.ts";
import { createEmailChecks, type EmailCheck } from "../domains/email-check.ts";
import { createDomainFacts, type DomainFactsSource } from "../domains/facts.ts";
import { createDomainLists, type DomainListing } from "../domains/lists.ts";
import type { JobRunner } from "../jobs/job-runner.ts";
import type { JobTally } from "../jobs/job-tally.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { JobResults } from "../jobs/results.ts";
import type { JobPool, JobTasks } from "../jobs/thread-tasks.ts";
import type { Uploads } from "../jobs/uploads/uploads.ts";
import type { AccountingStore, EmbeddedStore } from "../store/port.ts";
import { openStore } from "../store/sqlite/open.ts";
import { createAddressParser } from "../verification/email/address.ts";
import type { EmailVerification } from "../verification/email/email-verification.ts";
import { createAddressVerifier, type WrittenVerification } from "../verification/email/verification.ts";
import type { Deliverer } from "../webhooks/deliverer.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import { type OpenJobsDependencies, openJobs } from "./jobs.ts";
import { type Judging, openJudging } from "./judging.ts";
import { errorFacts } from "./log.ts";
import type { Platform } from "./platform.ts";
import type { Config, DnsConfig } from "./settings.ts";
import { openSharedMoney } from "./shared-money.ts";
import { byTenant, openTestFacts, withMadeUpFailure } from "./test-lookups.ts";
import { repeatUpkeep } from "./upkeep.ts";
import { type OpenWebhooksDependencies, openWebhooks } from "./webhooks.ts";

/** Everything that the routes are made of. Disposing closes it from the top down. */
export type Components = AsyncDisposable & {
  readonly plans: PlanCatalogue;
  readonly store: AccountingStore;
  readonly billingClock: BillingClock;
  readonly keyRing: KeyRing;
  readonly meter: Meter;
  readonly idempotency: Idempotency;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly accountLimiter: RateLimiter;
  readonly addressLimiter: RateLimiter;
  readonly resolver: StubResolver;
  readonly denialWatch: DenialWatch;
  readonly dnsCache: DnsCache;
  readonly domainFacts: DomainFactsSource;
  readonly checkEmail: EmailCheck<EmailVerification>;
  /** The same check, with its result as it goes on the wire. */
  readonly writeEmail: EmailCheck<WrittenVerification>;
  readonly pool: JobPool;
  readonly runner: BatchRunner;
  readonly directory: Directory;
  readonly judging: Judging;
  /** Null in a node of a cluster. */
  readonly queues: Queues | null;
};

/** Jobs and webhooks, which are worked on beside the calls. */
export type Queues = {
  readonly store: EmbeddedStore;
  readonly webhooks: Webhooks;
  readonly deliverer: Deliverer;
  readonly jobs: Jobs;
  readonly uploads: Uploads;
  readonly jobRunner: JobRunner;
  readonly jobTally: JobTally;
  readonly jobResults: JobResults;
};

const HOUR_MS = 3_600_000;
/** Domains that one batch looks up at a time: as many as keep the resolver busy, so that other callers need not queue behind it. */
const LOOKUPS_PER_BATCH_MAX = 256;
const LIMITER_ENTRIES_MAX = 100_000;
const WITHOUT_QUEUES =
  "This server is a node of a cluster, which takes no jobs and no webhooks yet: their routes answer 404.";

/** Opens the components from the bottom up. Throws ConfigError or StoreOpenError with a sentence for the operator. */
export async function openComponents(config: Config, platform: Platform): Promise<Components> {
  await using stack = new AsyncDisposableStack();
  const { plans } = config;
  const { databaseUrl } = config;
  const embedded = databaseUrl === null ? openMoney(config, platform, stack) : null;
  const money = embedded ?? (await openSharedMoney(config, platform, databaseUrl ?? "", stack));
  // Its thread reads the last snapshot while the rest is opened.
  const directory = stack.use(createDirectoryOf(config, platform));
  const directoryStarted = directory.start();
  directoryStarted.catch(() => undefined);
  const { clock, log } = platform;
  const lists = createDomainLists();
  const testFacts = await openTestFacts({ clock, lists }, stack);
  const lookups = openLookups(
    config.dns,
    { clock, lists, testFacts, report: (level, sentence) => log[level](sentence) },
    stack,
  );
  lookups.denialWatch.start();
  // Beside the threads of the batches, which read far more code, its thread takes three times as long to begin.
  await directoryStarted;
  const batches = openBatches(config, platform, lookups.domainFacts, stack);
  const limiters = {
    accountLimiter: createRateLimiter({ clock, entriesMax: LIMITER_ENTRIES_MAX }),
    addressLimiter: createRateLimiter({ clock, entriesMax: LIMITER_ENTRIES_MAX }),
  };
  const resolver = lookups.dnsCache;
  const queues =
    embedded === null ? null : openQueues(config, platform, { ...embedded, ...batches, resolver }, stack);
  if (queues === null) log.warn(WITHOUT_QUEUES, {});
  const judging = await openJudging(config, platform, { directory, resolver }, stack);
  const writeEmail = withMadeUpFailure(lookups.writeEmail);
  const answering = { ...money, ...limiters, ...lookups, writeEmail, ...batches };
  const components = { plans, ...answering, queues, directory, judging };
  const opened = stack.move();
  return { ...components, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

function openQueues(
  config: Config,
  platform: Platform,
  dependencies: OpenJobsDependencies & OpenWebhooksDependencies,
  stack: AsyncDisposableStack,
): Queues {
  const webhooks = openWebhooks(config, platform, dependencies, stack);
  return { store: dependencies.store, ...webhooks, ...openJobs(config, platform, dependencies, stack) };
}

function createDirectoryOf(config: Config, { clock, log, random, workerFiles }: Platform): Directory {
  return createDirectory({
    settings: config.directory,
    syncer: createSyncThread({
      workerFile: workerFiles.directorySync,
      settings: { ...config.directory, folder: join(config.dataDir, "directory") },
    }),
    clock,
    random,
    report: ({ level, message, ...facts }) => log[level](`directory: ${message}`, facts),
  });
}

/** The database, and all that counts and bills. */
function openMoney(
  { dataDir, plans, selfServePlans, limits }: Config,
  { clock, log, randomBytes }: Platform,
  stack: AsyncDisposableStack,
) {
  const store = openStore({ dataDir, clock });
  stack.defer(() => store.close());
  const keyRing = createKeyRing({ store, plans, clock });
  stack.defer(keyRing.flushUses);
  const billingClock = createBillingClock({ store, clock });
  const meter = createMeter({ store, plans, clock: billingClock, planChanged: keyRing.forget });
  stack.defer(() => meter.close());
  const billing = createBilling({ store, meter, clock: billingClock });
  stack.defer(billing.start((error) => log.error("billing failed", errorFacts(error))));
  const keyExpiry = createKeyExpiry({ store, clock: billingClock });
  stack.defer(keyExpiry.start((error) => log.error("events of keys failed", errorFacts(error))));
  const account = { store, meter, keyRing, plans, clock: billingClock, randomBytes };
  const accounts = createAccounts({ ...account, selfServePlans });
  // Operators set any plan.
  const operators = createOperators({ ...account, accounts: createAccounts(account), clock });
  stack.defer(operators.start((error) => log.error("an operator's command failed", errorFacts(error))));
  const directory = join(dataDir, "idempotency");
  const idempotency = createIdempotency({
    store,
    directory,
    clock: billingClock,
    keptBytesMax: limits.keptReplyBytesMax,
  });
  const reportError = (error: unknown) => log.error("pruning failed", errorFacts(error));
  void repeatUpkeep(() => idempotency.prune(), { everyMs: HOUR_MS, reportError }, stack)();
  return {
    store,
    billingClock,
    keyRing,
    meter: withTestTenants(meter, planOf(plans, "free")),
    idempotency,
    accounts,
    keys: createKeys({ store, keyRing, clock, randomBytes }),
  };
}

/** The DNS and what is known of mail domains. */
export function openLookups(
  dns: DnsConfig,
  {
    clock,
    report,
    lists = createDomainLists(),
    testFacts,
  }: Pick<Platform, "clock"> &
    Pick<DenialWatchDependencies, "report"> & {
      readonly lists?: DomainListing;
      /** Where the tenants of test keys look up. */
      readonly testFacts?: DomainFactsSource;
    },
  stack: AsyncDisposableStack,
) {
  const stub = createStubResolver({
    servers: serversOf(dns.servers),
    clock,
    lookupTimeoutMs: dns.lookupTimeoutMs,
    inFlightMax: dns.inFlightMax,
  });
  stack.defer(() => stub.close());
  const denialWatch = stack.use(
    createDenialWatch({ resolver: stub, ...(report === undefined ? {} : { report }) }),
  );
  const { resolver, epoch } = denialWatch;
  const dnsCache = createDnsCache({ resolver, clock, entriesMax: dns.cacheEntriesMax, epoch });
  const facts = createDomainFacts({
    cache: dnsCache,
    lists,
    clock,
    entriesMax: dns.cacheEntriesMax,
    epoch,
  });
  const fairFacts = createFairLookups(facts, { clock, queriesMax: dns.inFlightMax });
  const domainFacts = testFacts === undefined ? fairFacts : byTenant(fairFacts, testFacts);
  const parser = createAddressParser();
  const verify = createAddressVerifier(parser);
  const checkWith = createEmailChecks({
    source: domainFacts,
    clock,
    parser,
    timeoutMs: dns.requestTimeoutMs,
  });
  return {
    resolver: stub,
    denialWatch,
    dnsCache,
    domainFacts,
    checkEmail: checkWith(verify),
    writeEmail: checkWith(createEmailWriter(verify)),
  };
}

/** The worker threads and the way of a batch through them. */
export function openBatches(
  { batch }: Pick<Config, "batch">,
  { clock, workerFiles }: Pick<Platform, "clock" | "workerFiles">,
  domainFacts: DomainFactsSource,
  stack: AsyncDisposableStack,
) {
  const pool = stack.use(
    createPool<PoolTasks & JobTasks>({
      workerFile: workerFiles.batch,
      threads: batch.workerThreads,
      waitingMax: batch.inFlightMax * waitingTasksMax(batch.workerThreads),
      taskTimeoutMs: batch.taskTimeoutMs,
      clock,
    }),
  );
  const verifier = createChunkVerifier();
  const runner = createBatchRunner({
    pool,
    gatherFacts: createGatherFacts(domainFacts, createFactsBuffer(), LOOKUPS_PER_BATCH_MAX),
    clock,
    inline: { chunkBody: createBodyChunker(), verify: verifier.verify, failed: verifier.failed },
    settings: {
      batchesMax: batch.inFlightMax,
      threads: batch.workerThreads,
      lookupTimeoutMs: batch.lookupTimeoutMs,
      taskTimeoutMs: batch.taskTimeoutMs,
    },
  });
  return { pool, runner };
}
