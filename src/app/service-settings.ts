import { SMALL_BODY_BYTES_MAX } from "../http/bodies/request-body.ts";
import { type PaymentConfig, readPaymentConfig } from "./payment-settings.ts";
import { createReader, type Environment, type SettingReader } from "./setting-reader.ts";
import { type Config, publicRequestsPerSecond, readServerConfig } from "./settings.ts";

/** The settings that every paid service has. */
export type ServiceConfig = Pick<
  Config,
  "host" | "port" | "dataDir" | "logLevel" | "trustProxy" | "shutdownGraceMs"
> & {
  /** Under which callers reach the service; null: as they call it. */
  readonly publicUrl: string | null;
  readonly publicRequestsPerSecond: number;
  /** `ip`, `ip:port` or `[ip6]:port`; empty: the system's. */
  readonly dnsServers: readonly string[];
  readonly payment: PaymentConfig;
  /** Of the largest body that a route takes. */
  readonly bodyBytesMax: number;
};

/** Reads the settings of every paid service. `port` and `dataDir` are its own defaults. */
export function readServiceConfig(
  settings: SettingReader,
  { port, dataDir }: { readonly port: number; readonly dataDir: string },
): ServiceConfig {
  return {
    ...readServerConfig(settings),
    port: settings.integer("PORT", port, 0, 65_535),
    dataDir: settings.text("DATA_DIR", dataDir),
    publicUrl: settings.url("PUBLIC_URL"),
    publicRequestsPerSecond: publicRequestsPerSecond(settings),
    dnsServers: settings.servers("DNS_SERVERS"),
    payment: readPaymentConfig(settings),
    bodyBytesMax: SMALL_BODY_BYTES_MAX,
  };
}

/** The settings of the scanning service. */
export type ScanServiceConfig = ServiceConfig & {
  /** Lets scans lead to private addresses, any port and plain http: for one's own development server. */
  readonly allowPrivate: boolean;
  readonly scansInFlightMax: number;
  /** Between the starts of two scans of one origin. */
  readonly originIntervalMs: number;
  /** From the verification of a payment until it is answered that the scan goes on; longer than a scan may take. */
  readonly patienceMs: number;
  /** Lets scans lead to ports 8080 and 8443 too. */
  readonly allowAlternativePorts: boolean;
  /** In the User-Agent, for those who are scanned. */
  readonly contact: string | null;
  /** The server whose judging check the directory of scanned hosts points to. */
  readonly judgeUrl: string;
  /** Roots to trust in place of the built-in ones, PEM: for one's own development server. */
  readonly ca: string | null;
};

/** Reads the settings of the scanning service. Throws one ConfigError that lists every problem. */
export function readScanServiceConfig(environment: Environment): ScanServiceConfig {
  const settings = createReader(environment);
  const config: ScanServiceConfig = {
    ...readServiceConfig(settings, { port: 3001, dataDir: "./data/scan" }),
    allowPrivate: settings.flag("SCAN_ALLOW_PRIVATE", false),
    scansInFlightMax: settings.integer("SCANS_IN_FLIGHT_MAX", 16, 1, 1000),
    originIntervalMs: settings.integer("SCAN_INTERVAL_SECONDS", 60, 0, 86_400) * 1000,
    patienceMs: 25_000,
    allowAlternativePorts: settings.flag("SCAN_ALTERNATIVE_PORTS", false),
    contact: settings.optional("SCAN_CONTACT"),
    judgeUrl: settings.url("JUDGE_URL") ?? "http://127.0.0.1:3000",
    ca: settings.fileText("SCAN_CA_FILE"),
  };
  settings.finish();
  return Object.freeze(config);
}
