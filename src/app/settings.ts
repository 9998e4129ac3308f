import { readFileSync } from "node:fs";
import { DEFAULT_PLANS, isPlanName, type PlanCatalogue, readPlans } from "../billing/plans.ts";
import { PLAN_NAMES, type PlanName } from "../contract/words.ts";
import { parseServerAddress } from "../dns/server-address.ts";
import { parseDatabaseUrl } from "../store/postgres/database-url.ts";

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
  /** `loopback`: for callers on this machine, and not through a proxy. */
  readonly access: "loopback" | "public" | "off";
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
  /** For the bodies of all batches that are being read or cut; no less than for one. */
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

const SECRET_CHARACTERS_MIN = 16;
const METRICS_ACCESS = ["loopback", "public", "off"] as const;
const LOG_LEVELS = ["silent", "error", "warn", "info", "debug"] as const;
export type Environment = { readonly [name: string]: string | undefined };

/** All that is wrong with the settings, one line each. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/**
 * Reads the settings, and the file that PLANS_FILE names. `cores` is the default for WORKER_THREADS.
 * Throws one ConfigError that lists every problem.
 */
export function readConfig(
  environment: Environment,
  cores: number,
  readText: (path: string) => string = (path) => readFileSync(path, "utf8"),
): Config {
  const settings = createReader(environment);
  const config: Config = {
    host: settings.text("HOST", "127.0.0.1"),
    port: settings.integer("PORT", 3000, 0, 65_535),
    dataDir: settings.text("DATA_DIR", "./data"),
    databaseUrl: settings.database("DATABASE_URL"),
    databaseDirectUrl: settings.database("DATABASE_DIRECT_URL"),
    logLevel: settings.word("LOG_LEVEL", "info", LOG_LEVELS),
    trustProxy: settings.flag("TRUST_PROXY", false),
    corsOrigins: settings.origins("CORS_ORIGINS"),
    shutdownDelayMs: settings.integer("SHUTDOWN_DELAY_SECONDS", 0, 0, 600) * 1000,
    shutdownGraceMs: settings.integer("SHUTDOWN_GRACE_SECONDS", 10, 0, 600) * 1000,
    plans: settings.plans("PLANS_FILE", readText),
    selfServePlans: settings.planNames("SELF_SERVE_PLANS"),
    metrics: {
      access: settings.metrics("METRICS", "loopback"),
      token: settings.secret("METRICS_TOKEN"),
    },
    dns: {
      servers: settings.servers("DNS_SERVERS"),
      lookupTimeoutMs: settings.integer("DNS_TIMEOUT_MS", 4000, 100, 30_000),
      requestTimeoutMs: settings.integer("DNS_REQUEST_TIMEOUT_MS", 5000, 100, 60_000),
      inFlightMax: settings.integer("DNS_IN_FLIGHT_MAX", 200, 1, 2000),
      cacheEntriesMax: settings.integer("DNS_CACHE_ENTRIES_MAX", 200_000, 1000, 5_000_000),
    },
    batch: {
      workerThreads: settings.integer("WORKER_THREADS", cores, 1, 256),
      inFlightMax: settings.integer("BATCHES_IN_FLIGHT_MAX", 64, 1, 1000),
      bodyBytesMax: settings.integer("BODY_BYTES_MAX", 33_554_432, 65_536, 1_073_741_824),
      heldBodyBytesMax: settings.integer("BODIES_BYTES_MAX", 268_435_456, 65_536, 17_179_869_184),
      taskTimeoutMs: settings.integer("BATCH_TASK_TIMEOUT_MS", 10_000, 100, 600_000),
      lookupTimeoutMs: settings.integer("BATCH_DNS_TIMEOUT_SECONDS", 120, 1, 3600) * 1000,
      readerStallMs: settings.integer("READER_STALL_SECONDS", 60, 1, 3600) * 1000,
    },
    console: settings.flag("CONSOLE", true),
    webhooks: { allowPrivate: settings.flag("WEBHOOK_ALLOW_PRIVATE", false) },
    jobs: {
      retentionMs: settings.integer("JOB_RETENTION_DAYS", 7, 1, 365) * 86_400_000,
      uploadBytesMax: settings.integer("JOB_UPLOADS_BYTES_MAX", 34_359_738_368, 65_536, 1_099_511_627_776),
    },
    limits: {
      signupsPerMinute: settings.integer("SIGNUPS_PER_MINUTE", 5, 1, 100_000),
      publicRequestsPerSecond: settings.integer("PUBLIC_REQUESTS_PER_SECOND", 200, 1, 1_000_000),
      keptReplyBytesMax: settings.integer("KEPT_REPLIES_BYTES_MAX", 4_294_967_296, 65_536, 1_099_511_627_776),
    },
    directory: {
      upstream: settings.url("DIRECTORY_UPSTREAM"),
      file: settings.optional("DIRECTORY_FILE"),
      syncIntervalMs: settings.integer("DIRECTORY_SYNC_SECONDS", 60, 1, 86_400) * 1000,
      allowPrivateUpstream: settings.flag("DIRECTORY_ALLOW_PRIVATE", false),
      allowRedirects: settings.flag("DIRECTORY_ALLOW_REDIRECTS", false),
      acceptNextSnapshot: settings.flag("DIRECTORY_ACCEPT_NEXT", false),
      judgeUrl: settings.url("JUDGE_URL") ?? settings.url("PUBLIC_URL"),
    },
    prober: {
      isOn: settings.flag("PROBE", false),
      intervalMs: settings.integer("PROBE_INTERVAL_SECONDS", 600, 10, 86_400) * 1000,
      inFlightMax: settings.integer("PROBES_IN_FLIGHT_MAX", 128, 1, 2000),
      allowPrivate: settings.flag("PROBE_ALLOW_PRIVATE", false),
    },
  };
  if (config.directory.upstream !== null && config.directory.file !== null) {
    settings.problem("Set one of DIRECTORY_UPSTREAM and DIRECTORY_FILE, not both.");
  }
  if (config.databaseDirectUrl !== null && config.databaseUrl === null) {
    settings.problem("DATABASE_DIRECT_URL goes with a DATABASE_URL that leads through a pooler.");
  }
  if (config.batch.heldBodyBytesMax < config.batch.bodyBytesMax) {
    settings.problem("BODIES_BYTES_MAX must be at least BODY_BYTES_MAX.");
  }
  settings.finish();
  return Object.freeze(config);
}

export type SettingReader = ReturnType<typeof createReader>;

/** Reads one name at a time and gathers what is wrong; `finish` throws it all at once. */
export function createReader(environment: Environment) {
  const problems: string[] = [];
  const raw = (name: string): string | null => {
    const value = environment[name]?.trim();
    return value === undefined || value === "" ? null : value;
  };
  const fallBack = <T>(fallback: T, text: string): T => {
    problems.push(text);
    return fallback;
  };
  return {
    text: (name: string, fallback: string): string => raw(name) ?? fallback,
    optional: (name: string): string | null => raw(name),
    database(name: string): string | null {
      const value = raw(name);
      if (value === null) return null;
      if (parseDatabaseUrl(value) !== null) return value;
      // It may contain a password.
      return fallBack(
        null,
        `${name} must be postgres://user:password@host:port/database; of several hosts, with commas between them, the one that takes writes is used.`,
      );
    },
    planNames(name: string): readonly PlanName[] {
      const value = raw(name);
      if (value === null) return PLAN_NAMES;
      const names = value.split(",").map((part) => part.trim().toLowerCase());
      if (names.every(isPlanName)) return names;
      return fallBack(PLAN_NAMES, `${name} must list plans of ${PLAN_NAMES.join(", ")}, not "${value}".`);
    },
    servers(name: string): string[] {
      const parts = (raw(name) ?? "").split(",").map((part) => part.trim());
      const servers = parts.filter((part) => part !== "");
      for (const server of servers) {
        if (parseServerAddress(server) !== null) continue;
        problems.push(`${name} must list IP addresses, each with or without a port, not "${server}".`);
      }
      return servers;
    },
    origins(name: string): string[] {
      const parts = (raw(name) ?? "").split(",").map((part) => part.trim());
      const origins = parts.filter((part) => part !== "");
      for (const origin of origins) {
        if (/^https?:/.test(origin) && URL.parse(origin)?.origin === origin) continue;
        problems.push(`${name} must list origins such as https://app.example, not "${origin}".`);
      }
      return origins;
    },
    plans(name: string, readText: (path: string) => string): PlanCatalogue {
      const path = raw(name);
      if (path === null) return DEFAULT_PLANS;
      let text: string;
      try {
        text = readText(path);
      } catch {
        return fallBack(DEFAULT_PLANS, `${name}: ${path} cannot be read.`);
      }
      const read = readPlans(text);
      if (read.ok) return read.plans;
      problems.push(...read.problems.map((problem) => `${name}: ${problem}.`));
      return DEFAULT_PLANS;
    },
    integer(name: string, fallback: number, min: number, max: number): number {
      const value = raw(name);
      if (value === null) return fallback;
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      if (number >= min && number <= max) return number;
      return fallBack(fallback, `${name} must be a whole number from ${min} to ${max}, not "${value}".`);
    },
    flag(name: string, fallback: boolean): boolean {
      const value = raw(name)?.toLowerCase();
      if (value === undefined) return fallback;
      if (value === "true" || value === "1") return true;
      if (value === "false" || value === "0") return false;
      return fallBack(fallback, `${name} must be true or false, not "${value}".`);
    },
    metrics(name: string, fallback: MetricsConfig["access"]): MetricsConfig["access"] {
      const value = raw(name)?.toLowerCase() ?? fallback;
      if (value === "true") return "loopback";
      if (value === "false") return "off";
      const access = METRICS_ACCESS.find((word) => word === value);
      return access ?? fallBack(fallback, `${name} must be loopback, public or off, not "${value}".`);
    },
    secret(name: string): string | null {
      const value = raw(name);
      if (value === null) return null;
      if (value.length >= SECRET_CHARACTERS_MIN && /^[\x21-\x7e]+$/.test(value)) return value;
      return fallBack(null, `${name} must have at least ${SECRET_CHARACTERS_MIN} printable characters.`);
    },
    word<Word extends string>(name: string, fallback: Word, words: readonly Word[]): Word {
      const value = raw(name);
      if (value === null) return fallback;
      const word = words.find((candidate) => candidate === value.toLowerCase());
      return word ?? fallBack(fallback, `${name} must be one of ${words.join(", ")}, not "${value}".`);
    },
    url(name: string): string | null {
      const value = raw(name);
      if (value === null) return null;
      const protocol = URL.parse(value)?.protocol;
      if (protocol !== "https:" && protocol !== "http:") {
        return fallBack(null, `${name} must be an http or https address, not "${value}".`);
      }
      // Paths are put behind it.
      if (!/[?#]/.test(value)) return value.replace(/\/+$/, "");
      return fallBack(null, `${name} must be an address without a query or a fragment, not "${value}".`);
    },
    fileText(name: string): string | null {
      const path = raw(name);
      if (path === null) return null;
      try {
        return readFileSync(path, "utf8");
      } catch {
        return fallBack(null, `${name}: ${path} cannot be read.`);
      }
    },
    problem(text: string): void {
      problems.push(text);
    },
    finish(): void {
      if (problems.length > 0) throw new ConfigError(problems.join("\n"));
    },
  };
}
