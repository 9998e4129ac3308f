import { statfs } from "node:fs/promises";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import type { Check, CheckResult } from "./http/health.ts";
import type { Labelled, Readings } from "./http/metrics.ts";
import type { Parts } from "./parts.ts";

const MEGABYTE = 1_048_576;
/** Below the first a full disk is near, below the second writing is about to fail. */
const DISK_WARN_MB = 512;
const DISK_FAIL_MB = 8;
/** Any name does: what counts is that a server answers. */
const PROBED_NAME = "example.com";

/** What /health does to find out whether each part works. */
export function checksOf(
  { dataDir }: Config,
  clock: Clock,
  parts: Parts,
): { readonly [part: string]: Check } {
  const { store, resolver, pool, directory } = parts;
  const timed = async (work: () => unknown): Promise<CheckResult> => {
    const startedMs = clock.monotonic();
    await work();
    return { status: "pass", observed: rounded(clock.monotonic() - startedMs), unit: "ms" };
  };
  return {
    database: { fallback: "fail", run: () => timed(() => store.probe()) },
    dns: {
      fallback: "warn",
      run: () =>
        timed(async () => {
          const { outcome } = await resolver.lookUp(PROBED_NAME, "A");
          if (outcome === "timeout" || outcome === "error")
            throw new Error(`The look-up ended in ${outcome}`);
        }),
    },
    worker_pool: { fallback: "fail", run: (signal) => timed(() => pool.run("ping", {}, signal)) },
    directory: {
      fallback: "warn",
      run: () => {
        const { status, ageSeconds, output } = directory.status();
        return { status, observed: ageSeconds, unit: "s", ...(output === null ? {} : { output }) };
      },
    },
    disk: { fallback: "warn", run: () => checkDisk(dataDir) },
  };
}

async function checkDisk(dataDir: string): Promise<CheckResult> {
  const { bavail, bsize } = await statfs(dataDir);
  const freeMb = Math.floor((bavail * bsize) / MEGABYTE);
  if (freeMb >= DISK_WARN_MB) return { status: "pass", observed: freeMb, unit: "MB" };
  const status = freeMb >= DISK_FAIL_MB ? "warn" : "fail";
  return { status, observed: freeMb, unit: "MB", output: "The disk that holds DATA_DIR is nearly full." };
}

/** What the parts count themselves, for /metrics. */
export function readingsOf({ resolver, dnsCache, domainFacts, pool, runner, directory }: Parts): Readings {
  const labelled = (label: string, values: { readonly [name: string]: number }): Labelled[] =>
    Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }));
  return {
    assay_dns_lookups: {
      help: "Look-ups sent to the DNS since the start, by what became of them.",
      read: () => {
        const { queries, retries, tcpQueries, timeouts, errors } = resolver.stats();
        return labelled("kind", { queries, retries, tcp: tcpQueries, timeouts, errors });
      },
    },
    assay_dns_in_flight: { help: "Look-ups under way.", read: () => resolver.stats().inFlight },
    assay_dns_waiting: { help: "Look-ups that wait for their turn.", read: () => resolver.stats().waiting },
    assay_dns_cache: {
      help: "Look-ups answered by the cache since the start.",
      read: () => {
        const { hits, misses, joined } = dnsCache.stats();
        return labelled("outcome", { hits, misses, joined });
      },
    },
    assay_domain_cache: {
      help: "Mail domains answered by the cache of facts since the start.",
      read: () => {
        const { hits, misses } = domainFacts.stats();
        return labelled("outcome", { hits, misses });
      },
    },
    assay_pool_tasks: {
      help: "Tasks of the worker threads.",
      read: () => {
        const { running, waiting, finished, retried, failed } = pool.stats();
        return labelled("state", { running, waiting, finished, retried, failed });
      },
    },
    assay_pool_run_seconds: {
      help: "Time spent in tasks since the start.",
      read: () => pool.stats().runMs / 1000,
    },
    assay_batches_under_way: { help: "Batches being answered.", read: () => runner.underWay() },
    assay_directory_age_seconds: {
      help: "Age of the directory's snapshot; -1 before the first.",
      read: () => directory.stats().ageSeconds ?? -1,
    },
    assay_directory_listings: { help: "Listings in the snapshot.", read: () => directory.stats().listings },
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
