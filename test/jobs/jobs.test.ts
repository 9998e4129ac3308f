import { expect, test } from "bun:test";
import { DEFAULT_PLANS } from "../../src/billing/plans.ts";
import type { Ledger } from "../../src/billing/usage-ledger.ts";
import { ApiError } from "../../src/contract/errors.ts";
import { ROOM_ELSEWHERE } from "../../src/jobs/disk-room.ts";
import { createIntake } from "../../src/jobs/intake/intake-thread.ts";
import { createJobs } from "../../src/jobs/jobs.ts";
import type { JobRequest } from "../../src/jobs/new-job.ts";
import { createPartFiles } from "../../src/jobs/uploads/part-files.ts";
import { createParts } from "../../src/jobs/uploads/parts.ts";
import { createUploads } from "../../src/jobs/uploads/uploads.ts";
import type { JobPort } from "../../src/store/job-port.ts";
import type { JobStatus } from "../../src/store/job-records.ts";
import type { Store } from "../../src/store/port.ts";
import { openStore } from "../../src/store/sqlite/open.ts";
import { jobRecord, startedJob } from "../store/job-conformance.ts";
import { clock, NOON, signUp } from "../store/store-conformance.ts";
import { temporaryFolder } from "../support/process.ts";

const INPUT_BYTES_MAX = 1_000;
const UPLOAD_MS = 1_000;
const INTAKE_THREAD = new URL("../../workers/job-intake.ts", import.meta.url).href;

/** Jobs on a store in memory; `around` gets the store that they would have, and returns the one that they have. */
function jobsOn(
  folder: string,
  around: (store: JobPort) => JobPort = (store) => store,
  pace: (signal: AbortSignal) => Promise<void> = async () => {},
  units = { known: 0, stored: 0 },
) {
  let unitsLeft = units.known;
  const droppedParts: string[] = [];
  const store = openStore({ path: ":memory:", clock });
  const intake = createIntake(INTAKE_THREAD);
  const jobs = createJobs({
    store: around(store),
    intake,
    runner: {
      start: async () => {},
      run: () => {},
      join: () => {},
      hold: async () => {},
      giveUp: async () => {},
      chunksInWork: () => 0,
      queued: () => 0,
      held: () => [],
      async [Symbol.asyncDispose]() {},
    },
    meter: {
      ledger: async () => {
        unitsLeft = units.stored;
        return {} as Ledger;
      },
      reserve: (_, count) => {
        if (count > unitsLeft) throw new ApiError("quota_exceeded");
        throw new Error("nothing is started");
      },
    },
    clock,
    newJobId: () => "job_1",
    pace,
    random32: () => 7,
    changed: () => {},
    dropParts: async (jobId) => {
      droppedParts.push(jobId);
    },
    room: ROOM_ELSEWHERE,
    settings: { folder, inputBytesMax: INPUT_BYTES_MAX, uploadMs: UPLOAD_MS },
  });
  return { store, intake, jobs, droppedParts };
}

/** Signs an account up with the limits of a plan. */
async function accountOn(store: Store, planName: string) {
  await signUp(store, "acc_a");
  const plan = DEFAULT_PLANS.find((one) => one.plan === planName);
  if (plan === undefined) throw new Error(`there is no plan ${planName}`);
  return { accountId: "acc_a", plan };
}

const OPTIONS = {
  ...{ deep: false, dns: true, country: null, type: null, column: null, delimiter: null, encoding: null },
  whenOutOfUnits: "refuse",
} as const;

test.each(["text", "csv", "ndjson", "json"] as const)(
  "an input as %s of exactly the limit is accepted, and one byte more is 413",
  async (form) => {
    using folder = temporaryFolder("jobs");
    const { store, intake, jobs } = jobsOn(folder.path);
    await using _ = intake;
    const account = await accountOn(store, "free");
    const request: JobRequest = { kind: "email", name: null, webhookUrl: null, options: OPTIONS, form };
    const [start, end] = {
      text: ["", ""],
      csv: ["email\n", ""],
      ndjson: ['"', '"'],
      json: ['{"items":["', '"]}'],
    }[form];
    const receive = async (bytes: number) => {
      const job = await jobs.begin(account, request);
      const letters = "a".repeat(bytes - (start ?? "").length - (end ?? "").length);
      const pieces = [`${start}`, letters, `${end}`].map((text) => new TextEncoder().encode(text));
      const input = {
        next: async () => pieces.shift() ?? null,
        signal: new AbortController().signal,
      };
      try {
        return (await jobs.receive(account, job, request, input, () => request)).input.rows;
      } finally {
        await jobs.drop(job.jobId);
      }
    };
    expect(await receive(INPUT_BYTES_MAX)).toBe(1);
    await expect(receive(INPUT_BYTES_MAX + 1)).rejects.toMatchObject({
      code: "payload_too_large",
      status: 413,
      message: `The body has more than ${INPUT_BYTES_MAX} bytes when it is decoded.`,
    });
    store.close();
  },
);

test.each<readonly [JobStatus, JobStatus]>([
  ["queued", "running"],
  ["running", "completed"],
  ["cancelling", "cancelled"],
])("a job that is deleted while it goes from %s to %s is gone", async (from, to) => {
  using folder = temporaryFolder("jobs");
  let isFirstLook = true;
  const { store, intake, jobs } = jobsOn(folder.path, (own) => ({
    ...own,
    // What the runner does between the look and the change.
    async findJob(jobId) {
      const found = await own.findJob(jobId);
      if (isFirstLook) await own.changeJob(jobId, [from], { status: to });
      isFirstLook = false;
      return found;
    },
  }));
  await using _ = intake;
  await signUp(store, "acc_a");
  const { jobId } = await startedJob(store, "job_1", 3);
  await store.changeJob(jobId, ["queued"], { status: from });
  await jobs.remove("acc_a", jobId);
  await expect(jobs.find("acc_a", jobId)).rejects.toMatchObject({ code: "not_found" });
  const left = await store.findJob(jobId);
  expect(left?.status).toBe(to === "running" ? "cancelling" : to);
  if (to !== "running") expect(await store.chunkResults(jobId, 0, 10)).toEqual([]);
  store.close();
});

test("the rows of an input are stored at the pace that calls allow, for as long as its own call lasts", async () => {
  using folder = temporaryFolder("jobs");
  const asked = Promise.withResolvers<AbortSignal>();
  const turn = Promise.withResolvers<void>();
  let stored = 0;
  const counted = (own: JobPort): JobPort => ({
    ...own,
    addJobChunks(jobId, chunks) {
      stored += chunks.length;
      return own.addJobChunks(jobId, chunks);
    },
  });
  const { store, intake, jobs } = jobsOn(folder.path, counted, async (signal) => {
    asked.resolve(signal);
    await turn.promise;
  });
  await using _ = intake;
  const account = await accountOn(store, "free");
  const request = { kind: "email", name: null, webhookUrl: null, options: OPTIONS, form: "text" } as const;
  const job = await jobs.begin(account, request);
  const pieces = [new TextEncoder().encode("a@good.com\nb@good.com\n")];
  const { signal } = new AbortController();
  const input = { next: async () => pieces.shift() ?? null, signal };
  const received = jobs.receive(account, job, request, input, () => request);
  expect(await asked.promise).toBe(signal);
  expect(stored).toBe(0);
  turn.resolve();
  expect((await received).input.rows).toBe(2);
  expect(stored).toBe(1);
  store.close();
});

test("a refused input is cleared from the store by pruning, a deleted one at once", async () => {
  using folder = temporaryFolder("jobs");
  let clearings = 0;
  const { store, intake, jobs } = jobsOn(folder.path, (own) => ({
    ...own,
    clearErased() {
      clearings += 1;
      return own.clearErased();
    },
  }));
  await using _ = intake;
  const account = await accountOn(store, "scale");
  const request = { kind: "email", name: null, webhookUrl: null, options: OPTIONS } as const;
  for (let round = 0; round < 3; round++) {
    const { jobId } = await jobs.begin(account, request);
    expect(await jobs.drop(jobId)).toBe(true);
  }
  expect(clearings).toBe(0);
  await jobs.prune();
  expect(clearings).toBe(1);
  const { jobId } = await jobs.begin(account, request);
  await jobs.remove("acc_a", jobId);
  expect(clearings).toBe(2);
  await jobs.prune();
  expect(clearings).toBe(2);
  store.close();
});

test("inputs that were cut off are all dropped, none that comes meanwhile, and uploads in parts are left to their time", async () => {
  using folder = temporaryFolder("jobs");
  const looks: number[] = [];
  const options = JSON.stringify(OPTIONS);
  const { store, intake, jobs } = jobsOn(folder.path, (own) => ({
    ...own,
    async cutOffJobs() {
      const found = await own.cutOffJobs();
      await own.createJob(jobRecord(`job_late_${looks.push(found.length)}`, { options }), null, 999);
      return found;
    },
    jobsIn() {
      throw new Error("a look reads no whole state");
    },
  }));
  await using _ = intake;
  await accountOn(store, "free");
  const upload = { given: "text", said: null, otherwise: null, encoding: null } as const;
  store.createJob(jobRecord("job_parts", { options: JSON.stringify({ ...OPTIONS, upload }) }), null, 999);
  for (let n = 0; n < 150; n++) {
    store.createJob(jobRecord(`job_${n}`, { options }), null, 999);
  }
  await jobs.dropCutOff();
  await jobs.prune();
  expect(looks).toEqual([150]);
  expect(store.jobsIn(["receiving"]).map(({ jobId }) => jobId)).toEqual(["job_late_1", "job_parts"]);
  store.close();
});

test("a job is refused by the units in the database, not by those that were read earlier", async () => {
  using folder = temporaryFolder("jobs");
  const { store, intake, jobs } = jobsOn(folder.path, undefined, undefined, {
    known: 2,
    stored: 1,
  });
  await using _ = intake;
  const account = await accountOn(store, "free");
  const request = { kind: "email", name: null, webhookUrl: null, options: OPTIONS, form: "text" } as const;
  const job = await jobs.begin(account, request);
  const pieces = [new TextEncoder().encode("a@good.com\nb@good.com\n")];
  const input = { next: async () => pieces.shift() ?? null, signal: new AbortController().signal };
  const received = await jobs.receive(account, job, request, input, () => request);
  await expect(jobs.start(account, received, null)).rejects.toMatchObject({ code: "quota_exceeded" });
  store.close();
});

test("deleting a started upload removes its parts, however far the start has come", async () => {
  using folder = temporaryFolder("jobs");
  const { store, intake, jobs, droppedParts } = jobsOn(folder.path);
  await using _ = intake;
  const account = await accountOn(store, "free");
  const upload = { given: "text", said: null, otherwise: null, encoding: null } as const;
  const request = { kind: "email", name: null, webhookUrl: null, options: { ...OPTIONS, upload } } as const;
  const { jobId } = await jobs.begin(account, request);
  store.changeJob(jobId, ["receiving"], { status: "completed", chunkCount: 0 });
  await jobs.remove("acc_a", jobId);
  expect(droppedParts).toEqual([jobId]);
  store.close();
});

test("an upload whose start is under way when its time is over is started, and one that nobody starts is dropped", async () => {
  using folder = temporaryFolder("jobs");
  const pruned: string[] = [];
  /** Prunes before a step of the start, as if the step took long. */
  const prune = async (step: string) => {
    pruned.push(step);
    await jobs.prune();
  };
  const { store, intake, jobs, droppedParts } = jobsOn(folder.path, (own) => ({
    ...own,
    async clearInput(jobId, limit) {
      await prune("clear");
      return own.clearInput(jobId, limit);
    },
    async addJobChunks(jobId, chunks) {
      await prune("add");
      return own.addJobChunks(jobId, chunks);
    },
    async countJobs(accountId, statuses) {
      await prune("count");
      return own.countJobs(accountId, statuses);
    },
  }));
  await using _ = intake;
  const account = await accountOn(store, "free");
  const upload = { given: "text", said: null, otherwise: null, encoding: null } as const;
  const options = JSON.stringify({ ...OPTIONS, whenOutOfUnits: "pause", upload });
  for (const [jobId, deletedAt] of [
    ["job_started", null],
    ["job_left", null],
    ["job_deleted", NOON],
  ] as const) {
    store.createJob(jobRecord(jobId, { options, deletedAt, createdAt: NOON - UPLOAD_MS }), null, 9);
  }
  const files = createPartFiles(folder.path, () => "part.new");
  const parts = createParts(files, { bytesMax: 1_000 });
  const part = { accountId: "acc_a", jobId: "job_started", n: 1, jobBytesMax: 1_000 };
  const rows = async function* () {
    yield new TextEncoder().encode("a@good.com\nb@good.com\n");
  };
  await parts.write(part, rows(), async () => options);
  const uploads = createUploads({ store, jobs, parts, inputBytesMax: 1_000, room: ROOM_ELSEWHERE });
  const started = await uploads.start(account, "job_started", {
    decode: (bytes) => bytes,
    readFields: (request) => () => request,
    keep: null,
  });
  expect(started).toMatchObject({ status: "queued", rows: 2 });
  expect(pruned).toEqual(["clear", "add", "count"]);
  expect(store.chunkResults("job_started", 0, 9)).toHaveLength(1);
  expect([store.findJob("job_left"), store.findJob("job_deleted")]).toEqual([null, null]);
  expect(droppedParts.sort()).toEqual(["job_deleted", "job_left"]);
  store.close();
});
