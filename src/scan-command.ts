import { parseArgs } from "node:util";
import { SCAN_RESOURCES_MAX } from "./contract/scan-limits.ts";
import { isOutgoingAddress } from "./dns/public-address.ts";
import { createStubResolver } from "./dns/resolver.ts";
import { systemServers } from "./dns/system-servers.ts";
import { type AddressLookup, createAddressLookup, systemAddressLookup } from "./net/address-lookup.ts";
import { createHttpClient } from "./net/http-client.ts";
import { OUTGOING_PORTS } from "./net/limits.ts";
import { systemClock } from "./platform/clock.ts";
import { isObject } from "./platform/json-value.ts";
import { atOnce } from "./platform/steps.ts";
import { createDnsEvidence } from "./scan/dns-evidence.ts";
import type { Evidence } from "./scan/evidence.ts";
import { probeOrigin, SCAN_AGENT } from "./scan/probe.ts";
import { scanView } from "./scan/report.ts";
import { readScanTarget } from "./scan/scan-target.ts";
import { scanText } from "./scan/scan-text.ts";
import { scoreEvidence } from "./scan/score.ts";

const OWN_NETWORK = "For a server of your own network give --allow-private.";
const USAGE = `Usage: bun run scan ORIGIN [--json] [--allow-private] [--resource URL]…
       bun run scan --evidence FILE [--json]

Scans a service that is paid by x402, without paying. Exit code: 0 from grade B up, 1 below, 2 when it cannot be scanned. With
--evidence nothing is asked: the score is made again of what /v1/report/{report_id}/evidence answered.
`;

/** Scans one origin and returns the exit code. */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      "allow-private": { type: "boolean", default: false },
      resource: { type: "string", multiple: true, default: [] },
      evidence: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const write = (evidence: Evidence): number => {
    const view = scanView(evidence, scoreEvidence(evidence));
    process.stdout.write(values.json ? `${JSON.stringify(view, null, 2)}\n` : scanText(view));
    return view.grade <= "B" ? 0 : 1;
  };
  if (values.evidence !== undefined && positionals.length === 0)
    return write(await readEvidence(values.evidence));
  const [text] = positionals;
  if (text === undefined || positionals.length > 1 || values.evidence !== undefined) {
    process.stderr.write(USAGE);
    return 2;
  }
  const allowPrivate = values["allow-private"];
  const { resource } = values;
  if (resource.length > SCAN_RESOURCES_MAX)
    throw new Error(`At most ${SCAN_RESOURCES_MAX} --resource may be given.`);
  const rules = { allowPrivate, ports: OUTGOING_PORTS, allowLiterals: false, httpsOnly: false };
  const target = readScanTarget(text, resource, rules);
  if (typeof target === "string") throw new Error(`${target}${allowPrivate ? "" : ` ${OWN_NETWORK}`}`);
  const { origin } = target;
  await using stack = new AsyncDisposableStack();
  const lookUp = allowPrivate ? systemAddressLookup : publicLookup(stack);
  const found = await lookUp(new URL(origin).hostname);
  if (!allowPrivate && found.ok && !found.addresses.every(isOutgoingAddress)) {
    throw new Error(`${origin} has an address that is not public. ${OWN_NETWORK}`);
  }
  const evidence = await probeOrigin(
    {
      client: createHttpClient(
        { lookUp, clock: systemClock },
        { allowPrivate, userAgent: `${SCAN_AGENT}/1.0` },
      ),
      clock: systemClock,
      lookUp: createDnsEvidence(lookUp),
      randomName: () => crypto.randomUUID(),
      step: atOnce,
    },
    { ...target, isOwner: true, known: [], startedMs: systemClock.monotonic() },
  );
  if (evidence === null) {
    process.stderr.write(`${origin}/robots.txt keeps ${SCAN_AGENT} out.\n`);
    return 2;
  }
  return write(evidence);
}

/** Throws a sentence where the file does not hold what `/v1/report/{report_id}/evidence` answers. */
async function readEvidence(file: string): Promise<Evidence> {
  const value: unknown = await Bun.file(file).json();
  const isEvidence =
    isObject(value) &&
    typeof value.origin === "string" &&
    typeof value.scannedAt === "number" &&
    isObject(value.dns) &&
    Array.isArray(value.resources) &&
    Array.isArray(value.exchanges);
  if (!isEvidence) throw new Error(`${file} holds no evidence of a scan.`);
  return value as Evidence;
}

function publicLookup(stack: AsyncDisposableStack): AddressLookup {
  const resolver = createStubResolver({
    servers: systemServers(),
    clock: systemClock,
    lookupTimeoutMs: 3000,
    inFlightMax: 20,
  });
  stack.defer(() => resolver.close());
  return createAddressLookup(resolver);
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
