import { join } from "node:path";
import type { Accounts } from "../accounts/accounts.ts";
import type { Keys } from "../accounts/key-list.ts";
import type { KeyRing } from "../accounts/key-ring.ts";
import type { Pool } from "../batch/pool.ts";
import type { BatchRunner } from "../batch/runner.ts";
import type { BillingClock } from "../billing/billing-clock.ts";
import type { Idempotency } from "../billing/idempotency.ts";
import type { Meter } from "../billing/meter.ts";
import type { PlanCatalogue } from "../billing/plans.ts";
import { createRateLimiter, type RateLimiter } from "../billing/rate-limiter.ts";
import { createDirectory, type Directory } from "../directory/directory.ts";
import { createSyncThread } from "../directory/sync/sync-thread.ts";
import type { DnsCache } from "../dns/cache.ts";
import type { StubResolver } from "../dns/resolver.ts";
import type { DenialWatch } from "../domains/denial-watch.ts";
import type { EmailCheck } from "../domains/email-check.ts";
import type { DomainFactsSource } from "../domains/facts.ts";
import { createDomainLists } from "../domains/lists.ts";
import type { JobRunner } from "../jobs/job-runner.ts";
import type { JobTally } from "../jobs/job-tally.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { JobResults } from "../jobs/results/results.ts";
import type { JobPool } from "../jobs/thread-tasks.ts";
import type { Uploads } from "../jobs/uploads/uploads.ts";
import type { DirectoryTurnPort } from "../store/directory-port.ts";
import type { LeasePort } from "../store/lease-port.ts";
import type { AccountingStore, Store } from "../store/port.ts";
import { createTestFacts, withMadeUpFailure } from "../test-keys/test-lookups.ts";
import type { EmailVerification } from "../verification/email/email-verification.ts";
import type { WrittenVerification } from "../verification/email/verification.ts";
import type { Deliverer } from "../webhooks/deliverer.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import { openBatches } from "./batches.ts";
import { type OpenJobsDependencies, openJobs } from "./jobs.ts";
import { type Judging, openJudging } from "./judging.ts";
import { openLookups } from "./lookups.ts";
import { openMoney } from "./money.ts";
import type { Platform } from "./platform.ts";
import type { Config } from "./settings.ts";
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
  readonly pool: Pool;
  readonly runner: BatchRunner;
  readonly jobPool: JobPool;
  readonly directory: Directory;
  readonly judging: Judging;
  readonly queues: Queues;
  /** What processes share; null where this one has its store for itself. */
  readonly cluster: Pick<LeasePort, "countProcesses"> | null;
};

/** Jobs and webhooks, which are worked on beside the calls. */
export type Queues = {
  readonly store: Store;
  readonly webhooks: Webhooks;
  readonly deliverer: Deliverer;
  readonly jobs: Jobs;
  readonly uploads: Uploads;
  readonly jobRunner: JobRunner;
  readonly jobTally: JobTally;
  readonly jobResults: JobResults;
};

/** Opens the components from the bottom up. Throws ConfigError or StoreOpenError with a sentence for the operator. */
export async function openComponents(config: Config, platform: Platform): Promise<Components> {
  await using stack = new AsyncDisposableStack();
  const { plans } = config;
  const { databaseUrl } = config;
  const shared = databaseUrl === null ? null : await openShared(config, platform, databaseUrl, stack);
  const money = shared ?? openMoney(config, platform, stack);
  const { clock, log } = platform;
  // Its thread reads the last snapshot while the rest is opened, and the first calls are answered.
  const directory = stack.use(createDirectoryOf(config, platform, shared));
  const directoryStarted = directory.start();
  const lists = createDomainLists();
  const testFacts = createTestFacts({ clock, lists }, stack);
  const lookups = openLookups(
    config.dns,
    { clock, lists, testFacts, report: (level, sentence) => log[level](sentence) },
    stack,
  );
  lookups.denialWatch.start();
  // Another node is ready: calls go there until this one has what it serves.
  if (shared !== null) await directoryStarted;
  const batches = openBatches(config, platform, lookups.domainFacts, stack);
  const limiters = {
    accountLimiter: createRateLimiter({ clock }),
    addressLimiter: createRateLimiter({ clock }),
  };
  const resolver = lookups.dnsCache;
  const cluster = shared?.store ?? null;
  const queued = { ...money, ...batches, resolver, shared: cluster };
  const queues = await openQueues(config, platform, queued, stack);
  const judged = { directory, resolver, billingClock: money.billingClock, shared: cluster };
  const judging = await openJudging(config, platform, judged, stack);
  const writeEmail = withMadeUpFailure(lookups.writeEmail);
  const answering = { ...money, ...limiters, ...lookups, writeEmail, ...batches };
  const components = { plans, ...answering, queues, directory, judging, cluster };
  const opened = stack.move();
  return { ...components, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** A server by itself need not read the code of a cluster. */
async function openShared(config: Config, platform: Platform, url: string, stack: AsyncDisposableStack) {
  const { openSharedMoney } = await import("./shared-money.ts");
  return openSharedMoney(config, platform, url, stack);
}

async function openQueues(
  config: Config,
  platform: Platform,
  dependencies: OpenJobsDependencies & Omit<OpenWebhooksDependencies, "isShared"> & { readonly store: Store },
  stack: AsyncDisposableStack,
): Promise<Queues> {
  const isShared = dependencies.shared !== null;
  const webhooks = await openWebhooks(config, platform, { ...dependencies, isShared }, stack);
  return {
    store: dependencies.store,
    ...webhooks,
    ...(await openJobs(config, platform, dependencies, stack)),
  };
}

function createDirectoryOf(
  config: Config,
  { clock, log, random, workerFiles }: Platform,
  shared: { readonly store: DirectoryTurnPort; readonly processId: string } | null,
): Directory {
  const { databaseUrl: url, databaseDirectUrl } = config;
  return createDirectory({
    settings: config.directory,
    syncer: createSyncThread({
      workerFile: workerFiles.directorySync,
      settings: {
        ...config.directory,
        folder: join(config.dataDir, "directory"),
        probesDir: config.prober.isOn ? config.dataDir : null,
        database:
          url === null || shared === null
            ? null
            : { url, isPooled: databaseDirectUrl !== null, processId: shared.processId },
      },
    }),
    turns: shared?.store ?? null,
    clock,
    random,
    report: ({ level, message, ...facts }) => log[level](`directory: ${message}`, facts),
  });
}
