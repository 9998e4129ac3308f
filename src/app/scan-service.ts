import { SERVICE_TAGS, type ServiceFacts } from "../contract/specification/document/service-document.ts";
import { createStubResolver } from "../dns/resolver.ts";
import { serversOf } from "../dns/system-servers.ts";
import { READER_STALL_MS } from "../http/bodies/byte-stream.ts";
import { directoryRoutes } from "../http/routes/directory.ts";
import type { Check } from "../http/routes/health.ts";
import { scanRoutes } from "../http/routes/scans.ts";
import { type AddressLookup, createAddressLookup, systemAddressLookup } from "../net/address-lookup.ts";
import { createHttpClient } from "../net/http-client.ts";
import { OUTGOING_PORTS } from "../net/limits.ts";
import type { TargetRules } from "../net/target.ts";
import type { Clock } from "../platform/clock.ts";
import { DAY_MS } from "../platform/days.ts";
import { removeInSlices } from "../platform/slices.ts";
import { createSteps } from "../platform/steps.ts";
import { SCAN_AGENT } from "../scan/probe.ts";
import { createRunningScans, type RunningScans } from "../scan/running-scans.ts";
import { createScan, type ScanResult } from "../scan/scans.ts";
import type { ScanStore } from "../store/scan-port.ts";
import { openScans } from "../store/sqlite/side-databases/scans/open-scans.ts";
import { databaseCheck } from "./database-check.ts";
import { directoryCheck } from "./directory-check.ts";
import { errorFacts } from "./log.ts";
import type { Platform } from "./platform.ts";
import { openScannedDirectory } from "./scanned-directory.ts";
import { createScannedHosts, type ScannedHosts } from "./scanned-hosts.ts";
import type { RunningServer } from "./server.ts";
import { type ServiceContent, type ServiceKernel, startService } from "./service.ts";
import type { ScanServiceConfig } from "./service-settings.ts";
import { PRUNE_INTERVAL_MS, repeatUpkeep } from "./upkeep.ts";

const FACTS: ServiceFacts = {
  title: "Assay scans",
  summary: "25 checks of a service that is paid by x402.",
  description:
    "Scans a service that is paid by x402 as its callers see it, without paying it, and grades it: how it is reached, priced, paid and found. `POST /v1/scan` is paid by the call, in USDC on Base or Solana; reports are free. What is not answered with a 2xx is not charged.",
  tags: [
    { name: "Scans", description: "Fresh scans, paid by the call." },
    { name: "Reports", description: "What scans have found. Free." },
    SERVICE_TAGS.payments,
    { name: "Directory", description: "The scanned hosts." },
    SERVICE_TAGS.operation,
  ],
  guidance:
    'POST /v1/scan {"origin":"https://api.example.com"} costs 0.05 USD and answers a grade, a score of 100 and 25 checks with evidence, a fix and a command that repeats each. GET /v1/report?origin=https://api.example.com is free and answers the last scan, up to 24 hours old.',
};

const LOOKUPS_IN_FLIGHT_MAX = 200;
const LOOKUP_TIMEOUT_MS = 3000;
const WAITING_MAX = 200;
const WAITING_PER_PAYER_MAX = 50;
const REPORTS_KEPT_MS = 90 * DAY_MS;
const PRUNED_ROWS_MAX = 100;
const ALTERNATIVE_PORTS = [8080, 8443];

/** Starts the scanning service. Throws ConfigError or StoreOpenError with a sentence for the operator. */
export function startScanService(config: ScanServiceConfig, platform: Platform): Promise<RunningServer> {
  return startService(config, platform, (kernel, stack) => openScanService(config, platform, kernel, stack));
}

async function openScanService(
  config: ScanServiceConfig,
  platform: Platform,
  kernel: ServiceKernel,
  stack: AsyncDisposableStack,
): Promise<ServiceContent> {
  const { clock } = platform;
  const { routing, paid, originOf } = kernel;
  const database = openScans(config.dataDir, clock);
  stack.defer(() => database[Symbol.dispose]());
  const { scans: store } = database;
  const lists = await openScannedDirectory(config, platform, store, stack);
  const { judgeUrl, allowPrivate: anyPort } = config;
  const hosts = createScannedHosts({ store, changed: lists.changed }, { judgeUrl, anyPort });
  removeFormerListings(hosts, platform, stack);
  const newId = (prefix: string) => `${prefix}${Buffer.from(platform.randomBytes(12)).toString("hex")}`;
  const targetRules = targetRulesOf(config);
  const step = createSteps(clock.monotonic);
  const scan = createScan(
    {
      store,
      clock,
      lookUp: openAddressLookup(config, clock, stack),
      clientOf: (lookUp) =>
        createHttpClient(
          { lookUp, clock, ...(config.ca === null ? {} : { ca: config.ca }) },
          { allowPrivate: config.allowPrivate, ports: targetRules.ports, userAgent: userAgentOf(config) },
        ),
      signingKey: kernel.signingKey,
      randomName: () => newId("assay-"),
      step,
      onScanned: hosts.scanned,
    },
    { allowPrivate: config.allowPrivate },
  );
  const runningScans = createRunningScans<ScanResult>(
    { clock },
    {
      runningMax: config.scansInFlightMax,
      waitingMax: WAITING_MAX,
      waitingPerTenantMax: WAITING_PER_PAYER_MAX,
      intervalMs: config.originIntervalMs,
      patienceMs: config.patienceMs,
      newId: () => newId("rep_"),
    },
  );
  repeatPruning(store, platform, stack);
  return {
    facts: FACTS,
    routes: [
      ...scanRoutes({ routing, paid, scan, runningScans, store, clock, step, originOf, targetRules }),
      ...directoryRoutes({ routing, directory: lists.directory, readerStallMs: READER_STALL_MS }),
    ],
    checks: { reports: databaseCheck(database, clock), ...checksOf(runningScans, lists) },
  };
}

function removeFormerListings(
  hosts: Pick<ScannedHosts, "removeFormer">,
  { clock, log }: Pick<Platform, "clock" | "log">,
  stack: AsyncDisposableStack,
): void {
  const ended = new AbortController();
  stack.defer(() => ended.abort());
  const reportError = (error: unknown) => log.error("removing former listings failed", errorFacts(error));
  void hosts.removeFormer(clock.now(), ended.signal).catch(reportError);
}

function repeatPruning(
  store: Pick<ScanStore, "removeOld">,
  { clock, log }: Pick<Platform, "clock" | "log">,
  stack: AsyncDisposableStack,
): void {
  const prune = (signal: AbortSignal): Promise<void> => {
    const remove = (limit: number) => store.removeOld(clock.now() - REPORTS_KEPT_MS, limit);
    return removeInSlices(remove, PRUNED_ROWS_MAX, signal);
  };
  const reportError = (error: unknown) => log.error("pruning failed", errorFacts(error));
  void repeatUpkeep(prune, { everyMs: PRUNE_INTERVAL_MS, reportError }, stack)();
}

/** Opens the look-up of the hosts that are scanned. In an operator's own network the system's resolver is used. */
function openAddressLookup(
  { allowPrivate, dnsServers }: ScanServiceConfig,
  clock: Clock,
  stack: AsyncDisposableStack,
): AddressLookup {
  if (allowPrivate && dnsServers.length === 0) return systemAddressLookup;
  const resolver = createStubResolver({
    servers: serversOf(dnsServers),
    clock,
    lookupTimeoutMs: LOOKUP_TIMEOUT_MS,
    inFlightMax: LOOKUPS_IN_FLIGHT_MAX,
  });
  stack.defer(() => resolver.close());
  return createAddressLookup(resolver);
}

function targetRulesOf({ allowPrivate, allowAlternativePorts }: ScanServiceConfig): TargetRules {
  const ports = allowAlternativePorts ? [...OUTGOING_PORTS, ...ALTERNATIVE_PORTS] : OUTGOING_PORTS;
  return { allowPrivate, ports, allowLiterals: false, httpsOnly: false };
}

/** Returns the User-Agent of a scan, with an address where its operator can be reached. */
function userAgentOf({ contact, publicUrl }: ScanServiceConfig): string {
  const reachedAt = contact ?? (publicUrl === null ? null : `${publicUrl}/docs/scanning`);
  return `${SCAN_AGENT}/1.0${reachedAt === null ? "" : ` (+${reachedAt})`}`;
}

function checksOf(
  runningScans: Pick<RunningScans<ScanResult>, "stats">,
  { directory }: Pick<Awaited<ReturnType<typeof openScannedDirectory>>, "directory">,
): ServiceContent["checks"] {
  return { scans: scanCheck(runningScans), directory: directoryCheck(directory) };
}

function scanCheck(runningScans: Pick<RunningScans<ScanResult>, "stats">): Check {
  return {
    fallback: "warn",
    run: () => {
      const { running, waiting } = runningScans.stats();
      const status = waiting < WAITING_MAX ? "pass" : "warn";
      return { status, observed: running + waiting, unit: "scans" };
    },
  };
}
