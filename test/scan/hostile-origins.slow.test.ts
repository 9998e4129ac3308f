import { expect, test } from "bun:test";
import type { ScanReply } from "../../src/contract/specification/directory/scan.ts";
import { jsonOf } from "../support/json.ts";
import { startMadeUpFacilitator } from "../support/made-up-facilitator.ts";
import { startHostileOrigins } from "./hostile-origins.ts";
import { startScanServer } from "./scan-server.ts";

/** What a paid scan of a service takes that wants to hold it. */

const SCAN_MS_MAX = 20_000;

test("no service holds a scan past 20 s, leads it elsewhere, or keeps it from a result", async () => {
  using facilitator = startMadeUpFacilitator();
  using hostile = await startHostileOrigins();
  await using server = await startScanServer({
    facilitatorUrl: facilitator.url,
    environment: { SCANS_IN_FLIGHT_MAX: "50", PUBLIC_REQUESTS_PER_SECOND: "10000" },
  });
  const kinds = Object.entries(hostile.origins);
  const scans = await Promise.all(
    kinds.map(async ([kind, origin]) => {
      const reply = await server.scan({ origin });
      return { kind, status: reply.status, ...(await jsonOf<ScanReply>(reply)) };
    }),
  );
  for (const { kind, status, checks, duration_ms: durationMs } of scans) {
    expect([kind, status, checks?.length]).toEqual([kind, 200, 25]);
    expect([kind, durationMs <= SCAN_MS_MAX]).toEqual([kind, true]);
  }
  expect(hostile.secretReached()).toBe(0);
  expect(facilitator.settled.size).toBe(kinds.length);
  expect(server.logged()).toBe("");
  const slowest = scans.toSorted((a, b) => b.duration_ms - a.duration_ms)[0];
  console.log(
    `scans: ${kinds.length} hostile services, the longest ${slowest?.duration_ms} ms: ${slowest?.kind}`,
  );
}, 60_000);
