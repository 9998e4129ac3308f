import type { Account } from "../../accounts/key-ring.ts";
import type { Meter } from "../../billing/meter.ts";
import { DEFAULTS } from "../../contract/defaults.ts";
import { ApiError } from "../../contract/errors.ts";
import { queryReader } from "../../contract/schema.ts";
import { putJobPart, startJob } from "../../contract/specification/jobs/job-parts.ts";
import { jobResults } from "../../contract/specification/jobs/job-results.ts";
import {
  cancelJob,
  createJob,
  deleteJob,
  getJob,
  jobEvents,
  listJobs,
  pauseJob,
  resumeJob,
} from "../../contract/specification/jobs/jobs.ts";
import { jobOf } from "../../jobs/job.ts";
import { jobView } from "../../jobs/job-view.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import type { JobResults } from "../../jobs/results/results.ts";
import type { Uploads } from "../../jobs/uploads/uploads.ts";
import type { Answer } from "../../platform/answer.ts";
import type { Clock } from "../../platform/clock.ts";
import type { FairTurns } from "../../platform/fair-turns.ts";
import type { ListedJob } from "../../store/job-records.ts";
import type { Guard } from "../auth.ts";
import type { BodyReader } from "../bodies/body-reader.ts";
import type { Call } from "../call.ts";
import { type Idempotent, keepBehind } from "../idempotent.ts";
import { createDownloadShares } from "../jobs/download-shares.ts";
import { createFromBody, createInputArrivals } from "../jobs/job-create.ts";
import { downloadOf, readResultsQuery } from "../jobs/job-download.ts";
import { createEventStreamShares, jobEventStream } from "../jobs/job-events.ts";
import { createJobRequestReader } from "../jobs/job-request.ts";
import { createUpload, putPart, startUpload } from "../jobs/job-upload.ts";
import { json, jsonText, type Reply } from "../reply.ts";
import type { Route, Routing } from "../routing.ts";

export type JobRouteDependencies = {
  readonly routing: Routing;
  readonly guard: Pick<Guard, "isStillValid">;
  readonly jobs: Jobs;
  readonly uploads: Uploads;
  readonly results: JobResults;
  readonly meter: Meter;
  readonly idempotent: Idempotent;
  readonly clock: Clock;
  readonly readerStallMs: number;
  readonly draining: () => boolean;
  /** Throws `invalid_request` where an account may not name that address. */
  readonly requireWebhookUrl: (accountId: string, url: string) => Answer<void>;
  /** Of calls without an input. */
  readonly bodies: BodyReader;
  readonly turns: FairTurns;
};

/** Jobs: lists that outlive their call. */
export function jobRoutes(given: JobRouteDependencies): readonly Route[] {
  const { routing, jobs, meter, clock, readerStallMs } = given;
  const dependencies = {
    ...given,
    requests: createJobRequestReader(given.requireWebhookUrl),
    arriving: createInputArrivals(),
  };
  const view = (job: ListedJob) => jobView(job, clock.now());
  const page = queryReader(listJobs);
  const eventStreams = createEventStreamShares();
  const downloads = createDownloadShares({ clock });
  const steer = (act: Jobs["pause"]) => async (call: Call, account: Account) => {
    const written = async () => {
      await given.turns.turnOf(account.accountId);
      return JSON.stringify(view(await act(account.accountId, idOf(call))));
    };
    return repeatable(given, call, account, written);
  };
  return [
    routing.keyed(createJob, (call, account) => {
      const { fields, isUpload } = dependencies.requests.query(call.request.url);
      const act = isUpload ? createUpload : createFromBody;
      return act(dependencies, call, account, fields);
    }),
    routing.keyed(putJobPart, (call, account) => putPart(dependencies, call, account)),
    routing.keyed(startJob, (call, account) => startUpload(dependencies, call, account)),
    routing.keyed(listJobs, async (call, { accountId }) => {
      const { status, limit, starting_after } = page(call.request.url);
      const query = {
        status: status ?? null,
        afterJobId: starting_after ?? null,
        limit: limit ?? DEFAULTS.jobsLimit,
      };
      const found = await jobs.list(accountId, query);
      meter.countCall({ accountId }, call.route);
      return json({ ...found, data: found.data.map(view) });
    }),
    routing.keyed(getJob, async (call, { accountId }) => {
      const job = await jobs.find(accountId, idOf(call));
      meter.countCall({ accountId }, call.route);
      return json(view(job));
    }),
    routing.keyed(jobEvents, async (call, { accountId }) => {
      const jobId = idOf(call);
      const job = await jobs.find(accountId, jobId);
      meter.countCall({ accountId }, call.route);
      const find = async () =>
        (await given.guard.isStillValid(call)) ? jobs.find(accountId, jobId).catch(nullWhereGone) : null;
      const source = { find, view, isEnding: given.draining, readerStallMs };
      return jobEventStream(call, job, { ...source, shares: eventStreams, tenant: accountId });
    }),
    routing.keyed(jobResults, async (call, { accountId }) => {
      const query = readResultsQuery(call.request.url);
      const job = jobOf(await jobs.find(accountId, idOf(call)));
      meter.countCall({ accountId }, call.route);
      return downloadOf(call, job, query, { ...given, downloads });
    }),
    routing.keyed(pauseJob, steer(jobs.pause)),
    routing.keyed(resumeJob, steer(jobs.resume)),
    routing.keyed(cancelJob, steer(jobs.cancel)),
    routing.keyed(deleteJob, (call, account) => removeOf(given, call, account)),
  ];
}

async function removeOf(
  { turns, jobs, meter }: Pick<JobRouteDependencies, "turns" | "jobs" | "meter">,
  call: Call,
  { accountId }: Account,
): Promise<Reply> {
  // Chunks in work end first, and what is erased is cleared from the disk.
  call.suspendIdleTimeout();
  await turns.turnOf(accountId);
  await jobs.remove(accountId, idOf(call));
  meter.countCall({ accountId }, call.route);
  return { status: 204, body: null };
}

/** Returns the reply to a change of a job. It may be made again, so its reply is kept behind it. */
async function repeatable(
  { meter, idempotent, bodies }: Pick<JobRouteDependencies, "meter" | "idempotent" | "bodies">,
  call: Call,
  account: Account,
  change: () => Promise<string>,
): Promise<Reply> {
  using sent = await bodies.read(call.request, { tenant: account.accountId });
  // The change may wait for longer than connections may be silent; receiving the body may not.
  call.suspendIdleTimeout();
  return await idempotent.run(call, account, sent.digest, async (entry) => {
    const body = await change();
    if (entry === null) meter.countCall(account, call.route);
    else await keepBehind(meter, call, account, entry.keep({ status: 200, headers: {}, body }));
    return jsonText(body);
  });
}

function nullWhereGone(error: unknown): null {
  if (error instanceof ApiError && error.code === "not_found") return null;
  throw error;
}

function idOf({ params }: Call): string {
  return params.job_id ?? "";
}
