import { REPORT_VALID_MS } from "../contract/scan-limits.ts";
import { isOutgoingAddress } from "../dns/public-address.ts";
import type { AddressLookup } from "../net/address-lookup.ts";
import type { HttpClient } from "../net/http-client.ts";
import type { Clock } from "../platform/clock.ts";
import { createSteps, type Steps } from "../platform/steps.ts";
import type { SigningKey } from "../signing/signing-key.ts";
import type { ScanStore } from "../store/scan-port.ts";
import { challengePerResource } from "./challenge.ts";
import { createDnsEvidence } from "./dns-evidence.ts";
import type { Evidence, Resource } from "./evidence.ts";
import { probeOrigin, SCAN_AGENT } from "./probe.ts";
import { scanView } from "./report.ts";
import { type Scored, scoreInSteps } from "./score.ts";

/** What a scan brought. */
export type ScanResult =
  | {
      readonly kind: "scanned";
      /** JSON, for the call that began the scan, and for those that joined it. */
      readonly report: string;
      readonly joinedReport: string;
    }
  /** The origin may not be scanned. */
  | { readonly kind: "refused"; readonly reason: string };

export type ScanRequest = {
  /** In its one form: see `readOrigin`. */
  readonly origin: string;
  readonly resources: readonly string[];
  /** Under which callers find the report. */
  readonly reportUrl: string;
};

export type ScansDependencies = {
  readonly store: ScanStore;
  readonly clock: Clock;
  readonly lookUp: AddressLookup;
  /** Makes the client of one scan, which looks hosts up once. */
  readonly clientOf: (lookUp: AddressLookup) => HttpClient;
  readonly signingKey: Pick<SigningKey, "sign">;
  readonly randomName: () => string;
  /** Called for each scan once it is in the store; what it writes there is on the disk with the scan. */
  readonly onScanned: (evidence: Evidence, scored: Scored) => void;
};

/** Scans an origin for any caller, and keeps the report. */
export type Scan = (reportId: string, request: ScanRequest) => Promise<ScanResult>;

export function createScan(
  dependencies: ScansDependencies,
  options: { readonly allowPrivate: boolean },
): Scan {
  const { store, clock, signingKey, onScanned } = dependencies;
  // Scans of services that want to hold up others may end at the same time, each with megabytes to look at.
  const step = createSteps(clock.monotonic);
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
      { origin, resources, isOwner: false, known: await knownResources(store, origin), startedMs },
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

/** The name is resolved once, whatever the DNS says later. */
function onceForEachHost(lookUp: AddressLookup): AddressLookup {
  const known = new Map<string, ReturnType<AddressLookup>>();
  return (host) => {
    const found = known.get(host) ?? lookUp(host);
    known.set(host, found);
    return found;
  };
}

/** What the last scan of the origin found: resources that it need not name again, and whom they paid. */
async function knownResources(store: ScanStore, origin: string): Promise<readonly Resource[]> {
  const last = store.newest(origin);
  if (last === undefined) return [];
  const evidence = await unpackEvidence(last.evidence);
  const methodOf = (url: string) => evidence.resources.find((resource) => resource.url === url)?.method;
  return challengePerResource(evidence).map(({ exchange: { method, url }, accepts }) => ({
    method: methodOf(url) ?? method,
    url,
    source: "directory" as const,
    listedMicroUsd: null,
    knownPayees: accepts.flatMap(({ payTo }) => (typeof payTo === "string" ? [payTo] : [])),
  }));
}

async function packEvidence({ exchanges, ...rest }: Evidence, step: Steps): Promise<string> {
  const written: string[] = [];
  for (const exchange of exchanges) written.push(await step(() => JSON.stringify(exchange)));
  const text = `${JSON.stringify(rest).slice(0, -1)},"exchanges":[${written.join(",")}]}`;
  const packed = await Bun.zstdCompress(text, { level: 1 });
  return Buffer.from(packed).toString("base64");
}

/** Returns the evidence of a report. */
export async function unpackEvidence(packed: string): Promise<Evidence> {
  const text = await Bun.zstdDecompress(Buffer.from(packed, "base64"));
  return JSON.parse(Buffer.from(text).toString("utf8")) as Evidence;
}
