import { expect, test } from "bun:test";
import type { PaidFor } from "../../src/billing/charge-log.ts";
import { createSharedChargeLog } from "../../src/billing/shared-charge-log.ts";
import type { AdmissionGroup } from "../../src/store/admit-port.ts";
import { finishedChunk } from "../store/job-conformance.ts";

const CALL = { accountId: "acc_a", planPeriodId: 1, at: 0, endpoint: "/v1/x", units: 1, calls: 1 };
const FOR_A_CALL: PaidFor = { reply: null, chunk: null };

/** A log whose database takes so long for each group. */
function openLog(tookMs: number) {
  let nowMs = 0;
  const waits: number[] = [];
  const lanes: AdmissionGroup["lane"][] = [];
  const log = createSharedChargeLog({
    store: {
      admit: async ({ lane, admissions }) => {
        lanes.push(lane);
        nowMs += tookMs;
        return { outcomes: admissions.map(() => "charged" as const), units: new Map() };
      },
      record: async () => {},
      isOpen: () => true,
    },
    clock: { now: () => nowMs, monotonic: () => nowMs },
    openCalls: () => 0,
    entriesPerCommitMax: 10,
    onCallsWait: (ms) => waits.push(ms),
    timeToKeep: () => null,
    rateOf: () => null,
    refresh: () => {},
    quotaRefusal: () => {
      throw new Error("nothing is refused");
    },
  });
  return { log, waits, lanes };
}

test("how long the store took is reported of each group of calls, and not of chunks", async () => {
  const { log, waits, lanes } = openLog(30);
  const calls = [log.append(CALL, () => {}, FOR_A_CALL), log.append(CALL, () => {}, FOR_A_CALL)];
  await Promise.all(calls);
  expect([lanes, waits]).toEqual([["calls"], [30]]);
  const chunk = finishedChunk("job_1", { n: 0, attempt: 1 });
  await log.append({ ...CALL, calls: 0 }, () => {}, { reply: null, chunk });
  expect([lanes, waits]).toEqual([["calls", "chunks"], [30]]);
});
