import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../src/app/log.ts";
import { systemPlatform } from "../../src/app/platform.ts";
import { createRateLimiter } from "../../src/billing/rate-limiter.ts";
import { operation } from "../../src/contract/specification/operation.ts";
import { createDirectory } from "../../src/directory/directory.ts";
import { createSyncThread } from "../../src/directory/sync/sync-thread.ts";
import { createAddressGuard } from "../../src/http/auth.ts";
import { createBoundary } from "../../src/http/boundary.ts";
import { mountRoutes } from "../../src/http/mount.ts";
import { checkHeaders, checkRoutes } from "../../src/http/routes/check.ts";
import { createRouting } from "../../src/http/routing.ts";
import { createCheck } from "../../src/judge/check.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { loadedOnce } from "../../src/platform/loaded-once.ts";
import { openSigningKey } from "../../src/signing/signing-key.ts";

/**
 * A server with the judging check over a directory of many listings, and beside it a route that answers a constant of
 * the same length with the same headers. How many listings is the first argument; prints its URL, ends with its input.
 */

export const listedResource = (n: number): string => `https://service-${n}.example/v1/run`;

const listing = (n: number): string =>
  JSON.stringify({
    host: `service-${n}.example`,
    service_name: `Service ${n}`,
    description: `A service for measurements, number ${n}`,
    endpoints: 2,
    score: n % 101,
    evidence: {
      pay_to: `0x${(n + 1).toString(16).padStart(40, "0")}`,
      uptime_30d: 0.9 + (n % 100) / 1000,
      probes_30d: 4320,
      median_latency_ms: 100 + (n % 900),
      payers_30d: n % 400,
      settlements_30d: n % 9000,
      last_paid: "2026-11-01T00:00:00Z",
      pay_to_changed_at: null,
      price_usd: "0.010000",
    },
    resources: [listedResource(n), `https://service-${n}.example/v1/batch`].map((url) => ({
      ...{ url, score: n % 101, price_usd: "0.010000" },
    })),
    judged_by: `https://judge.example/v1/check?resource=${encodeURIComponent(listedResource(n))}`,
  });

async function main(listings: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "assay-check-"));
  const file = join(folder, "listings.ndjson");
  writeFileSync(file, Array.from({ length: listings }, (_, n) => `${listing(n)}\n`).join(""));
  const { workerFiles, newRequestId } = systemPlatform(createLog("silent"));
  const settings = { upstream: null, file, allowPrivateUpstream: false, allowRedirects: false };
  const syncer = createSyncThread({
    workerFile: workerFiles.directorySync,
    settings: { ...settings, folder: join(folder, "directory") },
  });
  await using directory = createDirectory({
    settings: { ...settings, syncIntervalMs: 600_000, acceptNextSnapshot: true },
    ...{ syncer, clock: systemClock, random: Math.random },
  });
  await directory.start();
  while (directory.view()?.snapshot.count !== listings) await directory.sync();
  const boundary = createBoundary({
    ...{ clock: systemClock, newRequestId, trustProxy: false },
    server: () => app.server,
    draining: () => false,
    readBearer: () => null,
    setRateLimitHeaders: () => {},
    report: () => {},
    reportBug: (_call, error) => console.error(error),
    refusalOf: () => undefined,
  });
  const limiter = createRateLimiter({ clock: systemClock, entriesMax: 1000 });
  const admit = () => {
    throw new Error("no route has a key");
  };
  const routing = createRouting({
    guard: { admit, admitPublic: createAddressGuard(limiter) },
    publicRequestsPerSecond: 1_000_000,
  });
  const check = createCheck({
    signingKey: openSigningKey(folder),
    ownEvidence: () => null,
    monotonic: systemClock.monotonic,
  });
  const view = directory.view();
  if (view === null) throw new Error("there is no directory");
  const made = check.judge(view, "", new URL(listedResource(0)));
  const headers = checkHeaders(made);
  const bare = routing.public(
    operation({
      ...{ operationId: "bare", method: "GET", path: "/bare", tag: "Test", summary: "A constant." },
      access: "public",
      replies: { 200: { description: "The constant." } },
    }),
    () => ({ status: 200, body: made.text, headers }),
  );
  const app = mountRoutes(
    [...checkRoutes({ routing, directory, check: loadedOnce(async () => check) }), bare],
    boundary,
  );
  app.listen({ hostname: "127.0.0.1", port: 0 });
  process.stdout.write(`${app.server?.url.origin}\n`);
  for await (const _ of Bun.stdin.stream());
  await app.stop(true);
  rmSync(folder, { recursive: true, force: true });
}

if (import.meta.main) {
  await main(Number(process.argv[2]));
  process.exit(0);
}
