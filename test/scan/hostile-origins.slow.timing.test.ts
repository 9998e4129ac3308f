import { expect, test } from "bun:test";
import { startLatencyProbe } from "../support/latency.ts";
import { MADE_UP_PAYEE, startMadeUpFacilitator } from "../support/made-up-facilitator.ts";
import { startWatchedProcess, temporaryFolder } from "../support/process.ts";
import { worseShare } from "../support/tenants.ts";
import { startHostileOrigins } from "./hostile-origins.ts";
import { payForScan } from "./scan-server.ts";

/** What scans of services that want to hold up others leave to others. */

const HEALTHZ_MS_MAX = 50;
/** Of the main thread's own work, whatever else the machine does. */
const TURN_MS_MAX = 30;
/** What else the machine does can only lengthen a wait. */
const TRIES = 3;

test(`beside scans of hostile services nobody waits for ${HEALTHZ_MS_MAX} ms`, async () => {
  using facilitator = startMadeUpFacilitator();
  using hostile = await startHostileOrigins();
  using folder = temporaryFolder("hostile-timing");
  await using server = await startWatchedProcess(
    {
      DATA_DIR: folder.path,
      ...{ PAY_TO_EVM: MADE_UP_PAYEE, X402_FACILITATOR: facilitator.url, SCAN_ALLOW_PRIVATE: "true" },
      ...{ SCANS_IN_FLIGHT_MAX: "50", PUBLIC_REQUESTS_PER_SECOND: "10000", SCAN_INTERVAL_SECONDS: "0" },
    },
    folder.path,
    "scan-service-process",
  );
  const kinds = Object.entries(hostile.origins);
  const scanAll = async () => {
    const replies = await Promise.all(kinds.map(([, origin]) => payForScan(server.url, { origin })));
    expect(replies.flatMap(({ status }, n) => (status === 200 ? [] : [[kinds[n]?.[0], status]]))).toEqual([]);
    await Promise.all(replies.map((reply) => reply.arrayBuffer()));
  };
  let best = { turnMs: Number.POSITIVE_INFINITY, healthzMs: Number.POSITIVE_INFINITY };
  const shareOf = (tried: typeof best) =>
    worseShare(tried, { turnMs: TURN_MS_MAX, healthzMs: HEALTHZ_MS_MAX });
  for (let tries = 0; tries < TRIES && shareOf(best) >= 1; tries += 1) {
    await server.longestTurnMs();
    const probe = await startLatencyProbe(`${server.url}/healthz`);
    await scanAll();
    const { calls, slowestMs } = await probe.stop();
    const turnMs = await server.longestTurnMs();
    console.log(
      `scans: beside ${kinds.length} hostile services the longest turn is ${turnMs.toFixed(1)} ms, the slowest of ${calls} calls of /healthz ${slowestMs.toFixed(1)} ms`,
    );
    const tried = { turnMs, healthzMs: slowestMs };
    if (shareOf(tried) < shareOf(best)) best = tried;
  }
  expect(best.turnMs).toBeLessThan(TURN_MS_MAX);
  expect(best.healthzMs).toBeLessThan(HEALTHZ_MS_MAX);
}, 120_000);
