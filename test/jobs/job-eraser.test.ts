import { expect, test } from "bun:test";
import { createInputsInReading } from "../../src/jobs/inputs-in-reading.ts";
import { createJobEraser } from "../../src/jobs/job-eraser.ts";
import { openStore } from "../../src/store/sqlite/open.ts";
import { jobRecord } from "../store/job-conformance.ts";
import { clock, NOON, signUp } from "../store/store-conformance.ts";

const UPLOAD = JSON.stringify({ upload: { given: "text", said: null, otherwise: null, encoding: null } });
const EXPIRED = { status: "completed", expiresAt: NOON } as const;

test("what is past its retention is erased while other jobs wait, run or are paused", async () => {
  const store = openStore({ path: ":memory:", clock });
  await signUp(store, "acc_a");
  store.createJob(jobRecord("job_expired", { options: UPLOAD }), null, 9);
  store.changeJob("job_expired", ["receiving"], EXPIRED);
  store.createJob(jobRecord("job_paused", { options: UPLOAD }), null, 9);
  store.changeJob("job_paused", ["receiving"], { status: "paused" });
  const eraser = createJobEraser({
    store,
    clock,
    dropParts: async () => {},
    inReading: createInputsInReading(),
    settings: { uploadMs: 1_000_000 },
  });
  await eraser.prune();
  expect(store.findJob("job_expired")?.erasedAt).toBe(NOON);
  expect(store.findJob("job_paused")?.erasedAt).toBeNull();
  store.close();
});
