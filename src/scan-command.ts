import { parseArgs } from "node:util";
import { createStubResolver } from "./dns/resolver.ts";
import { systemServers } from "./dns/system-servers.ts";
import { type AddressLookup, createAddressLookup, systemAddressLookup } from "./net/address-lookup.ts";
import { createHttpClient } from "./net/http-client.ts";
import { systemClock } from "./platform/clock.ts";
import { createDnsEvidence } from "./scan/dns-evidence.ts";
import type { Evidence } from "./scan/evidence.ts";
import { readOrigin } from "./scan/origin.ts";
import { probeOrigin, SCAN_AGENT } from "./scan/probe.ts";
import { scanView } from "./scan/report.ts";
import { scanText } from "./scan/scan-text.ts";
import { scoreEvidence } from "./scan/score.ts";

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
    },
  });
  const write = (evidence: Evidence): number => {
    const view = scanView(evidence, scoreEvidence(evidence));
    process.stdout.write(values.json ? `${JSON.stringify(view, null, 2)}\n` : scanText(view));
    return view.grade <= "B" ? 0 : 1;
  };
  if (values.evidence !== undefined) return write((await Bun.file(values.evidence).json()) as Evidence);
  const origin = readOrigin(positionals[0] ?? "");
  if (positionals.length !== 1 || origin === null) {
    process.stderr.write(USAGE);
    return 2;
  }
  const allowPrivate = values["allow-private"];
  await using stack = new AsyncDisposableStack();
  const lookUp = allowPrivate ? systemAddressLookup : publicLookup(stack);
  const evidence = await probeOrigin(
    {
      client: createHttpClient(
        { lookUp, clock: systemClock },
        { allowPrivate, userAgent: `${SCAN_AGENT}/1.0` },
      ),
      clock: systemClock,
      lookUp: createDnsEvidence(lookUp),
      randomName: () => crypto.randomUUID(),
    },
    { origin, resources: values.resource.slice(0, 5), known: [], startedMs: systemClock.monotonic() },
  );
  if (evidence === null) {
    process.stderr.write(`${origin}/robots.txt keeps ${SCAN_AGENT} out.\n`);
    return 2;
  }
  return write(evidence);
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
