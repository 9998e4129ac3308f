import type { PlanCatalogue } from "../billing/plans.ts";
import type { PlanName } from "../contract/words.ts";
import { DAY_MS } from "../platform/days.ts";
import {
  createReader,
  type Environment,
  type MetricsAccess,
  type ReadText,
  type SettingReader,
} from "./setting-reader.ts";

/** Every setting, checked and typed. Values come from the environment; see the table of settings in README. */
export type Config = {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** The PostgreSQL of a cluster that this server is a node of; null: the database is in `dataDir`. */
  readonly databaseUrl: string | null;
  /** The same PostgreSQL without the pooler that `databaseUrl` leads through; null: it leads through none. */
  readonly databaseDirectUrl: string | null;
  readonly logLevel: LogLevel;
  /** Take the client's address from X-Forwarded-For: only behind a proxy that sets it. */
  readonly trustProxy: boolean;
  /** Pages of these origins may make calls with a key. */
  readonly corsOrigins: readonly string[];
  /** How long the server goes on answering after SIGTERM, until balancers know. */
  readonly shutdownDelayMs: number;
  /** How long calls in flight may go on after that. */
  readonly shutdownGraceMs: number;
  /** Those of PLANS_FILE where it is set. */
  readonly plans: PlanCatalogue;
  /** Plans that callers may sign up for or change to by themselves. */
  readonly selfServePlans: readonly PlanName[];
  readonly metrics: MetricsConfig;
  readonly dns: DnsConfig;
  readonly batch: BatchConfig;
  /** Serve the console. */
  readonly console: boolean;
  readonly webhooks: WebhooksConfig;
  readonly jobs: JobsConfig;
  readonly limits: LimitsConfig;
  readonly directory: DirectoryConfig;
  readonly prober: ProberConfig;
};

export type MetricsConfig = {
  readonly access: MetricsAccess;
  /** Where set, callers from everywhere need it as their bearer token. */
  readonly token: string | null;
};

export type LogLevel = (typeof LOG_LEVELS)[number];

export type DnsConfig = {
  /** `ip`, `ip:port` or `[ip6]:port`; empty: the system's. */
  readonly servers: readonly string[];
  /** For one look-up, retries included. */
  readonly lookupTimeoutMs: number;
  /** For all look-ups of a single check. */
  readonly requestTimeoutMs: number;
  readonly inFlightMax: number;
  readonly cacheEntriesMax: number;
};

export type BatchConfig = {
  readonly workerThreads: number;
  readonly inFlightMax: number;
  readonly bodyBytesMax: number;
  /** For the bodies of all batches that are being read or chunked; no less than for one. */
  readonly heldBodyBytesMax: number;
  /** For a thread to do one task, which is then tried once more in another; longer than any takes on a busy machine. */
  readonly taskTimeoutMs: number;
  /** After this time a batch stops looking up domains: the rest is answered `dns_timeout` and not charged. */
  readonly lookupTimeoutMs: number;
  /** A reader that takes nothing for this long is given up. */
  readonly readerStallMs: number;
};

export type LimitsConfig = {
  readonly signupsPerMinute: number;
  readonly publicRequestsPerSecond: number;
  /** For the replies that are kept for an Idempotency-Key, of all accounts. */
  readonly keptReplyBytesMax: number;
};

export type WebhooksConfig = {
  /** Lets webhooks lead to private addresses, any port and plain http: for development and tests. */
  readonly allowPrivate: boolean;
};

export type JobsConfig = {
  /** From the end of a job until its data is erased. */
  readonly retentionMs: number;
  /** For the parts of all uploads that have not been started, as they are on the disk. */
  readonly uploadBytesMax: number;
};

export type ProberConfig = {
  readonly isOn: boolean;
  /** Of a round over all listings. */
  readonly intervalMs: number;
  readonly inFlightMax: number;
  /** Lets probes lead to private addresses, any port and plain http: for development and tests. */
  readonly allowPrivate: boolean;
  /** In the User-Agent, for those who are probed. */
  readonly contact: string | null;
};

export type DirectoryConfig = {
  readonly upstream: string | null;
  /** A file of listings to serve instead of an upstream; read again at every interval. */
  readonly file: string | null;
  readonly syncIntervalMs: number;
  readonly allowPrivateUpstream: boolean;
  /** Follow up to 3 redirects of the upstream, each checked like the first address. */
  readonly allowRedirects: boolean;
  /** Let the next sync pass although it removes or redirects more than the breakers allow. */
  readonly acceptNextSnapshot: boolean;
  /** The server whose judging check all listings point to; null: as each says. */
  readonly judgeUrl: string | null;
};

const LOG_LEVELS = ["silent", "error", "warn", "info", "debug"] as const;

/**
 * Reads the settings, and the file that PLANS_FILE names. `cores` is the default for WORKER_THREADS.
 * Throws one ConfigError that lists every problem.
 */
export function readConfig(environment: Environment, cores: number, readText?: ReadText): Config {
  const settings = createReader(environment);
  const config: Config = {
    port: settings.integer("PORT", 3000, 0, 65_535),
    dataDir: settings.text("DATA_DIR", "./data"),
    databaseUrl: settings.database("DATABASE_URL"),
    databaseDirectUrl: settings.database("DATABASE_DIRECT_URL"),
    ...readServerConfig(settings),
    corsOrigins: settings.origins("CORS_ORIGINS"),
    shutdownDelayMs: settings.integer("SHUTDOWN_DELAY_SECONDS", 0, 0, 600) * 1000,
    plans: settings.plans("PLANS_FILE", readText),
    selfServePlans: settings.planNames("SELF_SERVE_PLANS"),
    metrics: {
      access: settings.metrics("METRICS", "loopback"),
      token: settings.secret("METRICS_TOKEN"),
    },
    dns: readDnsConfig(settings),
    batch: readBatchConfig(settings, cores),
    console: settings.flag("CONSOLE", true),
    webhooks: { allowPrivate: settings.flag("WEBHOOK_ALLOW_PRIVATE", false) },
    jobs: {
      retentionMs: settings.integer("JOB_RETENTION_DAYS", 7, 1, 365) * DAY_MS,
      uploadBytesMax: settings.integer("JOB_UPLOADS_BYTES_MAX", 34_359_738_368, 65_536, 1_099_511_627_776),
    },
    limits: {
      signupsPerMinute: settings.integer("SIGNUPS_PER_MINUTE", 5, 1, 100_000),
      publicRequestsPerSecond: publicRequestsPerSecond(settings),
      keptReplyBytesMax: settings.integer("KEPT_REPLIES_BYTES_MAX", 4_294_967_296, 65_536, 1_099_511_627_776),
    },
    directory: readDirectoryConfig(settings),
    prober: {
      isOn: settings.flag("PROBE", false),
      intervalMs: settings.integer("PROBE_INTERVAL_SECONDS", 600, 10, 86_400) * 1000,
      inFlightMax: settings.integer("PROBES_IN_FLIGHT_MAX", 128, 1, 2000),
      allowPrivate: settings.flag("PROBE_ALLOW_PRIVATE", false),
      contact: settings.optional("PROBE_CONTACT") ?? settings.url("PUBLIC_URL"),
    },
  };
  reportConflicts(config, settings);
  settings.finish();
  return Object.freeze(config);
}

/** Returns what every server that listens has. */
export function readServerConfig(settings: SettingReader) {
  return {
    host: settings.text("HOST", "127.0.0.1"),
    logLevel: settings.word("LOG_LEVEL", "info", LOG_LEVELS),
    trustProxy: settings.flag("TRUST_PROXY", false),
    shutdownGraceMs: settings.integer("SHUTDOWN_GRACE_SECONDS", 10, 0, 600) * 1000,
  };
}

/** Of one client address, on routes without a key. */
export const publicRequestsPerSecond = (settings: SettingReader): number =>
  settings.integer("PUBLIC_REQUESTS_PER_SECOND", 200, 1, 1_000_000);

function readDnsConfig(settings: SettingReader): DnsConfig {
  return {
    servers: settings.servers("DNS_SERVERS"),
    lookupTimeoutMs: settings.integer("DNS_TIMEOUT_MS", 4000, 100, 30_000),
    requestTimeoutMs: settings.integer("DNS_REQUEST_TIMEOUT_MS", 5000, 100, 60_000),
    inFlightMax: settings.integer("DNS_IN_FLIGHT_MAX", 200, 1, 2000),
    cacheEntriesMax: settings.integer("DNS_CACHE_ENTRIES_MAX", 200_000, 1000, 5_000_000),
  };
}

function readBatchConfig(settings: SettingReader, cores: number): BatchConfig {
  return {
    workerThreads: settings.integer("WORKER_THREADS", cores, 1, 256),
    inFlightMax: settings.integer("BATCHES_IN_FLIGHT_MAX", 64, 1, 1000),
    bodyBytesMax: settings.integer("BODY_BYTES_MAX", 33_554_432, 65_536, 1_073_741_824),
    heldBodyBytesMax: settings.integer("BODIES_BYTES_MAX", 268_435_456, 65_536, 17_179_869_184),
    taskTimeoutMs: settings.integer("BATCH_TASK_TIMEOUT_MS", 10_000, 100, 600_000),
    lookupTimeoutMs: settings.integer("BATCH_DNS_TIMEOUT_SECONDS", 120, 1, 3600) * 1000,
    readerStallMs: settings.integer("READER_STALL_SECONDS", 60, 1, 3600) * 1000,
  };
}

function readDirectoryConfig(settings: SettingReader): DirectoryConfig {
  return {
    upstream: settings.url("DIRECTORY_UPSTREAM"),
    file: settings.optional("DIRECTORY_FILE"),
    syncIntervalMs: settings.integer("DIRECTORY_SYNC_SECONDS", 60, 1, 86_400) * 1000,
    allowPrivateUpstream: settings.flag("DIRECTORY_ALLOW_PRIVATE", false),
    allowRedirects: settings.flag("DIRECTORY_ALLOW_REDIRECTS", false),
    acceptNextSnapshot: settings.flag("DIRECTORY_ACCEPT_NEXT", false),
    judgeUrl: settings.url("JUDGE_URL") ?? settings.url("PUBLIC_URL"),
  };
}

/** Settings that are good alone and not together. */
function reportConflicts(config: Config, settings: SettingReader): void {
  if (config.directory.upstream !== null && config.directory.file !== null) {
    settings.problem("Set one of DIRECTORY_UPSTREAM and DIRECTORY_FILE, not both.");
  }
  if (config.databaseDirectUrl !== null && config.databaseUrl === null) {
    settings.problem("DATABASE_DIRECT_URL goes with a DATABASE_URL that leads through a pooler.");
  }
  if (config.batch.heldBodyBytesMax < config.batch.bodyBytesMax) {
    settings.problem("BODIES_BYTES_MAX must be at least BODY_BYTES_MAX.");
  }
}
