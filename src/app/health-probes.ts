import { statfs } from "node:fs/promises";
import { INTERACTIVE_WEIGHT } from "../batch/fair-queue.ts";
import type { PoolStats } from "../batch/pool.ts";
import { nounOf } from "../contract/noun.ts";
import type { CheckResult } from "../contract/specification/service-replies.ts";
import type { BodyReader } from "../http/body-reader.ts";
import type { Check } from "../http/routes/health.ts";
import type { Labelled, Reading, Readings } from "../http/routes/metrics.ts";
import type { Clock } from "../platform/clock.ts";
import type { Components, Queues } from "./components.ts";
import type { Config } from "./settings.ts";

const MEGABYTE = 1_048_576;
/** Below the first a full disk is near, below the second writing is about to fail. */
const DISK_WARN_MB = 512;
const DISK_FAIL_MB = 8;
/** Any name does: what counts is that a server answers. */
const PROBED_NAME = "example.com";

/** The probe waits for a thread like any tenant. */
const PROBE_SHARE = { tenant: "health probe", weight: INTERACTIVE_WEIGHT };

/** Jobs begin within two seconds; far past that the threads are too few, or stuck. */
const QUEUE_WARN_S = 30;

/** What /health does to find out whether each part works. */
export function checksOf(
  { dataDir }: Config,
  clock: Clock,
  components: Components,
): { readonly [part: string]: Check } {
  const { store, billingClock, resolver, denialWatch, pool, directory, queues } = components;
  const timed = async (work: () => unknown): Promise<CheckResult> => {
    const startedMs = clock.monotonic();
    await work();
    return { status: "pass", observed: rounded(clock.monotonic() - startedMs), unit: "ms" };
  };
  return {
    database: {
      fallback: "fail",
      run: async () => {
        const doubt = billingClock.doubt();
        if (doubt !== null) {
          return { status: "fail", observed: doubt.daysAhead, unit: "days", output: doubt.sentence };
        }
        const daysBehind = billingClock.daysBehind();
        const probed = await timed(() => store.probe());
        if (daysBehind === 0) return probed;
        const output = `The clock stands ${daysBehind} ${nounOf(daysBehind, "day")} before the last time that was kept in the database.`;
        return { ...probed, status: "warn", output };
      },
    },
    dns: {
      fallback: "warn",
      run: async () => {
        const probed = await timed(async () => {
          const { outcome } = await resolver.lookUp(PROBED_NAME, "A");
          if (outcome === "timeout" || outcome === "error")
            throw new Error(`The look-up ended in ${outcome}`);
        });
        const trouble = denialWatch.trouble();
        return trouble === null ? probed : { ...probed, status: "warn", output: trouble };
      },
    },
    worker_pool: {
      fallback: "fail",
      run: (signal) => timed(() => pool.runTwice("ping", {}, { signal, share: PROBE_SHARE })),
    },
    directory: {
      fallback: "warn",
      run: async () => {
        await directory.opening();
        const { status, ageSeconds, output } = directory.status();
        return { status, observed: ageSeconds, unit: "s", ...(output === null ? {} : { output }) };
      },
    },
    disk: { fallback: "warn", run: () => checkDisk(dataDir) },
    job_queue: { fallback: "warn", run: () => checkQueue(queues.jobTally) },
    store_space: { fallback: "warn", run: () => checkSpace(store, queues) },
  };
}

function checkQueue({ stats }: Queues["jobTally"]): CheckResult {
  const waitS = Math.round(stats().oldestWaitMs / 1_000);
  const result = { observed: waitS, unit: "s" } as const;
  if (waitS < QUEUE_WARN_S) return { ...result, status: "pass" };
  return { ...result, status: "warn", output: "Jobs wait for their turn longer than they should." };
}

async function checkSpace(store: Components["store"], queues: Queues): Promise<CheckResult> {
  const { usedBytes } = await store.space();
  const observed = Math.round(usedBytes / MEGABYTE);
  const unfinished = await queues.store.unfinishedJobs();
  const paused = unfinished.find(({ statusReason }) => statusReason === "storage");
  if (paused === undefined) return { status: "pass", observed, unit: "MB" };
  return {
    status: "warn",
    observed,
    unit: "MB",
    output: `Jobs that wait for room on the disk: ${paused.jobs}.`,
  };
}

async function checkDisk(dataDir: string): Promise<CheckResult> {
  const { bavail, bsize } = await statfs(dataDir);
  const freeMb = Math.floor((bavail * bsize) / MEGABYTE);
  if (freeMb >= DISK_WARN_MB) return { status: "pass", observed: freeMb, unit: "MB" };
  const status = freeMb >= DISK_FAIL_MB ? "warn" : "fail";
  return { status, observed: freeMb, unit: "MB", output: "The disk that holds DATA_DIR is nearly full." };
}

/** Returns what the components count themselves, for /metrics. */
export function readingsOf(components: Components, bodies: BodyReader, clock: Clock): Readings {
  const { queues } = components;
  return {
    ...clusterReadings(components),
    ...lookupReadings(components),
    ...batchReadings(components, bodies),
    ...storeReadings(components),
    ...jobReadings(queues),
    ...webhookReadings(queues, clock),
  };
}

/** What only nodes of a cluster have. */
function clusterReadings({ cluster, directory }: Components): Readings {
  if (cluster === null) return {};
  return {
    assay_cluster_nodes: gauge("Nodes that listen to the database now.", () => cluster.countProcesses()),
    assay_directory_turn: gauge("1 on the node that syncs the directory for all.", () =>
      directory.stats().isLeading === true ? 1 : 0,
    ),
  };
}

function lookupReadings({ resolver, dnsCache, domainFacts }: Components): Readings {
  return {
    assay_dns_lookups_total: counter("Look-ups in the DNS, what they took, and how many failed.", () => {
      const { lookups, queries, retries, tcpQueries, timeouts, errors } = resolver.stats();
      return labelled("kind", { lookups, queries, retries, tcp: tcpQueries, timeouts, errors });
    }),
    assay_dns_in_flight: gauge("Look-ups under way.", () => resolver.stats().inFlight),
    assay_dns_waiting: gauge("Look-ups that wait for their turn.", () => resolver.stats().waiting),
    assay_dns_cache_total: counter("Look-ups by what the cache had of them.", () => {
      const { hits, misses, joined } = dnsCache.stats();
      return labelled("outcome", { hits, misses, joined });
    }),
    assay_domain_cache_total: counter("Mail domains by what the cache of facts had of them.", () => {
      const { hits, misses } = domainFacts.stats();
      return labelled("outcome", { hits, misses });
    }),
  };
}

function batchReadings({ pool, jobPool, runner }: Components, bodies: BodyReader): Readings {
  const sum = (of: keyof PoolStats) => pool.stats()[of] + jobPool.stats()[of];
  return {
    assay_pool_tasks: gauge("Tasks of the worker threads; the last three since the start.", () => {
      const states = ["running", "waiting", "finished", "retried", "failed"] as const;
      return labelled("state", Object.fromEntries(states.map((state) => [state, sum(state)])));
    }),
    assay_pool_wait_seconds_total: counter(
      "Time that tasks waited for a thread.",
      () => sum("waitMs") / 1000,
    ),
    assay_pool_run_seconds_total: counter("Time that tasks took.", () => sum("runMs") / 1000),
    assay_batches_under_way: gauge("Batches being answered.", () => runner.underWay()),
    assay_batch_body_bytes: gauge("Bytes of large bodies being received or answered.", () =>
      bodies.heldBytes(),
    ),
  };
}

function storeReadings({ store, meter, directory }: Components): Readings {
  return {
    assay_database_errors_total: counter("Failures of the database.", () => store.stats().errors),
    assay_charges_waiting: gauge("Charges that wait for the disk.", () => meter.waiting()),
    assay_directory_age_seconds: gauge(
      "Age of the directory's snapshot; -1 before the first.",
      () => directory.stats().ageSeconds ?? -1,
    ),
    assay_directory_listings: gauge("Listings in the snapshot.", () => directory.stats().listings),
    assay_directory_syncs_total: counter("Syncs of the directory by what became of them.", () =>
      labelled("outcome", directory.stats().syncs),
    ),
  };
}

const UNFINISHED_JOBS = { receiving: 0, queued: 0, running: 0, paused: 0, cancelling: 0 };

function jobReadings({ store, jobRunner, jobTally }: Queues): Readings {
  return {
    assay_database_bytes: gauge("Bytes of the database's rows, and those free for new ones.", async () => {
      const { usedBytes, freeBytes } = await store.space();
      return labelled("kind", { used: usedBytes, free: freeBytes });
    }),
    assay_jobs: gauge("Jobs that have not ended.", async () => {
      const counts: { [state: string]: number } = { ...UNFINISHED_JOBS };
      for (const { status, jobs } of await store.unfinishedJobs())
        counts[status] = (counts[status] ?? 0) + jobs;
      return labelled("state", counts);
    }),
    assay_jobs_ended_total: counter("Jobs that have ended.", () => labelled("state", jobTally.stats().ended)),
    assay_job_queue_age_seconds: gauge(
      "The longest that an account with jobs to run has had none of their chunks in work.",
      () => jobTally.stats().oldestWaitMs / 1_000,
    ),
    assay_job_chunks_in_work: gauge("Chunks of jobs in work.", () => jobRunner.chunksInWork()),
    assay_job_chunks_total: counter("Chunks of jobs by what the work on them came to.", () =>
      labelled("outcome", jobTally.stats().chunks),
    ),
    assay_job_chunk_retries_total: counter(
      "Chunks that were begun again after they had failed or the process had ended.",
      () => jobTally.stats().chunkRetries,
    ),
  };
}

function webhookReadings({ store, deliverer }: Queues, clock: Clock): Readings {
  return {
    assay_webhook_attempts_total: counter("Attempts to deliver to webhooks by what they came to.", () =>
      labelled("outcome", deliverer.stats()),
    ),
    assay_webhook_in_flight: gauge("Attempts to deliver under way.", () => deliverer.inFlight()),
    assay_webhook_queue_age_seconds: gauge(
      "For how long the oldest delivery that waits has been due.",
      async () => Math.max(0, (clock.now() - ((await store.nextDueAt()) ?? clock.now())) / 1_000),
    ),
  };
}

const counter = (help: string, read: Reading["read"]): Reading => ({ type: "counter", help, read });
const gauge = (help: string, read: Reading["read"]): Reading => ({ type: "gauge", help, read });

function labelled(label: string, values: { readonly [name: string]: number }): Labelled[] {
  return Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }));
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
