import { version } from "../../package.json" with { type: "json" };
import type { PoolStats } from "../batch/task-pool.ts";
import type { BodyReader } from "../http/bodies/body-reader.ts";
import type { ByLabel, Reading, Readings } from "../http/routes/metrics.ts";
import type { Answer } from "../platform/answer.ts";
import type { Clock } from "../platform/clock.ts";
import type { Components, Queues } from "./components.ts";

/** Returns what the components count themselves, for /metrics. */
export function readingsOf(components: Components, bodies: BodyReader, clock: Clock): Readings {
  const { queues } = components;
  return {
    assay_build_info: gauge(
      "1, with the version of the server.",
      by("version", () => ({ [version]: 1 })),
    ),
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
    assay_dns_lookups_total: counter("Look-ups in the DNS.", () => resolver.stats().lookups),
    assay_dns_lookup_failures_total: counter(
      "Look-ups that failed.",
      by("reason", () => {
        const { timeouts, errors } = resolver.stats();
        return { timeout: timeouts, error: errors };
      }),
    ),
    assay_dns_queries_total: counter("Queries that look-ups sent.", () => resolver.stats().queries),
    assay_dns_query_retries_total: counter("Queries that repeat one.", () => resolver.stats().retries),
    assay_dns_tcp_queries_total: counter("Queries that went by TCP.", () => resolver.stats().tcpQueries),
    assay_dns_in_flight: gauge("Look-ups under way.", () => resolver.stats().inFlight),
    assay_dns_waiting: gauge("Look-ups that wait for their turn.", () => resolver.stats().waiting),
    assay_dns_cache_total: counter(
      "Look-ups by what the cache had of them.",
      by("outcome", () => {
        const { hits, misses, joined } = dnsCache.stats();
        return { hits, misses, joined };
      }),
    ),
    assay_domain_cache_total: counter(
      "Mail domains by what the cache of facts had of them.",
      by("outcome", () => {
        const { hits, misses } = domainFacts.stats();
        return { hits, misses };
      }),
    ),
  };
}

function batchReadings({ pool, jobPool, runner }: Components, bodies: BodyReader): Readings {
  const sum = (of: keyof PoolStats) => pool.stats()[of] + jobPool.stats()[of];
  return {
    assay_pool_tasks: gauge(
      "Tasks of the worker threads.",
      by("state", () => ({ running: sum("running"), waiting: sum("waiting") })),
    ),
    assay_pool_tasks_total: counter(
      "Tasks of the worker threads by what became of them.",
      by("outcome", () => ({ finished: sum("finished"), retried: sum("retried"), failed: sum("failed") })),
    ),
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
    assay_directory_syncs_total: counter(
      "Syncs of the directory by what became of them.",
      by("outcome", () => directory.stats().syncs),
    ),
  };
}

const UNFINISHED_JOBS = { receiving: 0, queued: 0, running: 0, paused: 0, cancelling: 0 };

function jobReadings({ store, jobRunner, jobTally }: Queues): Readings {
  return {
    assay_database_bytes: gauge(
      "Bytes of the database's rows, and those free for new ones.",
      by("kind", async () => {
        const { usedBytes, freeBytes } = await store.space();
        return { used: usedBytes, free: freeBytes };
      }),
    ),
    assay_jobs: gauge(
      "Jobs that have not ended.",
      by("state", async () => {
        const counts: { [state: string]: number } = { ...UNFINISHED_JOBS };
        for (const { status, jobs } of await store.unfinishedJobs())
          counts[status] = (counts[status] ?? 0) + jobs;
        return counts;
      }),
    ),
    assay_jobs_ended_total: counter(
      "Jobs that have ended.",
      by("state", () => jobTally.stats().ended),
    ),
    assay_job_queue_age_seconds: gauge(
      "The longest that an account with jobs to run has had none of their chunks in work.",
      () => jobTally.stats().oldestWaitMs / 1_000,
    ),
    assay_job_chunks_in_work: gauge("Chunks of jobs in work.", () => jobRunner.chunksInWork()),
    assay_job_chunks_total: counter(
      "Chunks of jobs by what the work on them came to.",
      by("outcome", () => jobTally.stats().chunks),
    ),
    assay_job_chunk_retries_total: counter(
      "Chunks that were begun again after they had failed or the process had ended.",
      () => jobTally.stats().chunkRetries,
    ),
  };
}

function webhookReadings({ store, deliverer }: Queues, clock: Clock): Readings {
  return {
    assay_webhook_attempts_total: counter(
      "Attempts to deliver to webhooks by what they came to.",
      by("outcome", () => deliverer.stats()),
    ),
    assay_webhook_in_flight: gauge("Attempts to deliver under way.", () => deliverer.inFlight()),
    assay_webhook_queue_age_seconds: gauge(
      "For how long the oldest delivery that waits has been due.",
      async () => Math.max(0, (clock.now() - ((await store.nextDueAt()) ?? clock.now())) / 1_000),
    ),
  };
}

/** How a value is read, and the label of several. */
type Read = Pick<Reading, "label" | "read">;

const counter = (help: string, read: Reading["read"] | Read): Reading => reading("counter", help, read);
const gauge = (help: string, read: Reading["read"] | Read): Reading => reading("gauge", help, read);

function reading(type: Reading["type"], help: string, read: Reading["read"] | Read): Reading {
  return { type, help, ...(typeof read === "function" ? { read } : read) };
}

/** Returns numbers by the values of a label. */
function by(label: string, read: () => Answer<ByLabel>): Read {
  return { label, read };
}
