import { REPORT_VALID_MS } from "../contract/scan-limits.ts";
import { isOutgoingAddress } from "../dns/public-address.ts";
import type { AddressLookup } from "../net/address-lookup.ts";
import type { HttpClient } from "../net/http-client.ts";
import type { Clock } from "../platform/clock.ts";
import type { Steps } from "../platform/steps.ts";
import type { SigningKey } from "../signing/signing-key.ts";
import type { ScanStore } from "../store/scan-port.ts";
import { challengePerResource, readAhead } from "./challenge.ts";
import { createDnsEvidence } from "./dns-evidence.ts";
import type { Evidence, Resource } from "./evidence.ts";
import { packEvidence, unpackEvidence } from "./packed-evidence.ts";
import { probeOrigin, SCAN_AGENT } from "./probe.ts";
import { scanView } from "./report.ts";
import { type Scored, scoreInSteps } from "./score.ts";

/** The outcome of a scan. */
export type ScanResult =
  | {
      readonly kind: "scanned";
      /** JSON: one for the call that started the scan, one for those that joined it. */
      readonly report: string;
      readonly joinedReport: string;
    }
  /** The origin may not be scanned. */
  | { readonly kind: "refused"; readonly reason: string };

export type ScanRequest = {
  /** Normalised by `readOrigin`. */
  readonly origin: string;
  readonly resources: readonly string[];
  /** The address of the report. */
  readonly reportUrl: string;
};

export type ScansDependencies = {
  readonly store: ScanStore;
  readonly clock: Clock;
  readonly lookUp: AddressLookup;
  /** Creates the client of one scan, with a look-up that resolves each host once. */
  readonly clientOf: (lookUp: AddressLookup) => HttpClient;
  readonly signingKey: Pick<SigningKey, "sign">;
  readonly randomName: () => string;
  /** Shared by all scans: several hostile targets may finish together, each with megabytes to check. */
  readonly step: Steps;
  /** Called once a scan is stored; what it writes to the store is durable with the scan. */
  readonly onScanned: (evidence: Evidence, scored: Scored) => void;
};

/** Scans an origin, and stores the report. */
export type Scan = (reportId: string, request: ScanRequest) => Promise<ScanResult>;

export function createScan(
  dependencies: ScansDependencies,
  options: { readonly allowPrivate: boolean },
): Scan {
  const { store, clock, signingKey, step, onScanned } = dependencies;
  return async (reportId, { origin, resources, reportUrl }) => {
    const startedMs = clock.monotonic();
    const lookUp = onceForEachHost(dependencies.lookUp);
    const { hostname } = new URL(origin);
    const found = await lookUp(hostname);
    const isPrivate = found.ok && !found.addresses.every(isOutgoingAddress);
    if (isPrivate && !options.allowPrivate) {
      return { kind: "refused", reason: `${hostname} has an address that is not public.` };
    }
    const evidence = await probeOrigin(
      {
        client: dependencies.clientOf(lookUp),
        clock,
        lookUp: createDnsEvidence(lookUp),
        randomName: dependencies.randomName,
        step,
      },
      { origin, resources, isOwner: false, known: await knownResources(store, origin, step), startedMs },
    );
    if (evidence === null) {
      return { kind: "refused", reason: `${origin}/robots.txt keeps ${SCAN_AGENT} out.` };
    }
    const scored = await scoreInSteps(evidence, step);
    const { scanned_at, rules_version, ...view } = await step(() => scanView(evidence, scored));
    const expiresAt = evidence.scannedAt + REPORT_VALID_MS;
    const report = {
      report_id: reportId,
      report_url: reportUrl,
      ...view,
      scanned_at,
      expires_at: new Date(expiresAt).toISOString(),
      duration_ms: Math.round(clock.monotonic() - startedMs),
      rules_version,
    };
    const written = (joined: boolean): string => {
      const signed = { ...report, joined };
      return JSON.stringify({ ...signed, signature: signingKey.sign(signed) });
    };
    const ownReport = await step(() => written(false));
    const joinedReport = await step(() => written(true));
    const packed = await packEvidence(evidence, step);
    await step(() =>
      store.insert({
        reportId,
        origin,
        scannedAt: evidence.scannedAt,
        expiresAt,
        report: ownReport,
        evidence: packed,
      }),
    );
    await step(() => onScanned(evidence, scored));
    await store.sync();
    return { kind: "scanned", report: ownReport, joinedReport };
  };
}

/** Resolves each name once, so that DNS rebinding has no effect. */
function onceForEachHost(lookUp: AddressLookup): AddressLookup {
  const known = new Map<string, ReturnType<AddressLookup>>();
  return (host) => {
    const found = known.get(host) ?? lookUp(host);
    known.set(host, found);
    return found;
  };
}

/** Returns the resources of the last scan of the origin, with their payees. */
async function knownResources(store: ScanStore, origin: string, step: Steps): Promise<readonly Resource[]> {
  const last = store.newest(origin);
  if (last === undefined) return [];
  const evidence = await unpackEvidence(last.evidence, step);
  for (const exchange of evidence.exchanges) {
    if (exchange.status === 402) await step(() => readAhead(exchange));
  }
  const methodOf = (url: string) => evidence.resources.find((resource) => resource.url === url)?.method;
  return challengePerResource(evidence).map(({ exchange: { method, url }, accepts }) => ({
    method: methodOf(url) ?? method,
    url,
    source: "directory" as const,
    listedMicroUsd: null,
    knownPayees: accepts.flatMap(({ payTo }) => (typeof payTo === "string" ? [payTo] : [])),
  }));
}
