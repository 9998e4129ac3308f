import type { Account } from "../../accounts/key-ring.ts";
import type { Meter } from "../../billing/meter.ts";
import { DEFAULTS } from "../../contract/defaults.ts";
import { ApiError } from "../../contract/errors.ts";
import { queryReader } from "../../contract/schema.ts";
import { putJobPart, startJob } from "../../contract/specification/job-parts.ts";
import { jobResults } from "../../contract/specification/job-results.ts";
import {
  cancelJob,
  createJob,
  deleteJob,
  getJob,
  jobEvents,
  listJobs,
  pauseJob,
  resumeJob,
} from "../../contract/specification/jobs.ts";
import { jobOf } from "../../jobs/job.ts";
import { jobView } from "../../jobs/job-view.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import type { JobResults } from "../../jobs/results.ts";
import type { Uploads } from "../../jobs/uploads/uploads.ts";
import type { Answer } from "../../platform/answer.ts";
import type { Clock } from "../../platform/clock.ts";
import type { JobRecord } from "../../store/job-port.ts";
import type { BodyReader } from "../body-reader.ts";
import type { Call } from "../boundary.ts";
import type { FairTurns } from "../fair-turns.ts";
import { type Idempotent, keepBehind } from "../idempotent.ts";
import { downloadOf, readResultsQuery } from "../job-download.ts";
import { createEventStreamShares, jobEventStream } from "../job-events.ts";
import { createJobRequestReader, formOf, type JobRequestReader } from "../job-request.ts";
import { createUpload, putPart, startUpload } from "../job-upload.ts";
import { json, jsonText, type Reply } from "../reply.ts";
import { slicesOf } from "../request-body.ts";
import type { Route, Routing } from "../routing.ts";

export type JobRouteDependencies = {
  readonly routing: Routing;
  readonly jobs: Jobs;
  readonly uploads: Uploads;
  readonly results: JobResults;
  readonly meter: Meter;
  readonly idempotent: Idempotent;
  readonly clock: Clock;
  readonly readerStallMs: number;
  /** Throws `invalid_request` where an account may not name that address. */
  readonly requireWebhookUrl: (accountId: string, url: string) => Answer<void>;
  /** Of calls without an input. */
  readonly bodies: BodyReader;
  readonly turns: FairTurns;
};

type CallDependencies = JobRouteDependencies & {
  readonly requests: JobRequestReader;
  readonly arriving: Arrivals;
};

/** Inputs that are being received under Idempotency-Keys: of those under one key at most one becomes a job. */
type Arrivals = {
  /** Returns how many others of the account arrive under the key of the call. */
  readonly begin: (account: Account, call: Call) => { readonly others: () => number } & Disposable;
};

function createArrivals(): Arrivals {
  const counts = new Map<string, number>();
  return {
    begin({ accountId }, { request }) {
      const key = request.headers.get("idempotency-key");
      if (key === null) return { others: () => 0, [Symbol.dispose]: () => {} };
      const name = `${accountId} ${key}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return {
        others: () => (counts.get(name) ?? 1) - 1,
        [Symbol.dispose]() {
          const left = (counts.get(name) ?? 1) - 1;
          if (left === 0) counts.delete(name);
          else counts.set(name, left);
        },
      };
    },
  };
}

/** Jobs: lists that outlive their call. */
export function jobRoutes(given: JobRouteDependencies): readonly Route[] {
  const { routing, jobs, results, meter, clock, readerStallMs } = given;
  const dependencies = {
    ...given,
    requests: createJobRequestReader(given.requireWebhookUrl),
    arriving: createArrivals(),
  };
  const view = (job: JobRecord) => jobView(job, clock.now());
  const page = queryReader(listJobs);
  const eventStreams = createEventStreamShares();
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
      const act = isUpload ? createUpload : create;
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
      const { jobs: found, hasMore } = await jobs.list(accountId, query);
      meter.countCall({ accountId }, call.route);
      return json({
        data: found.map(view),
        has_more: hasMore,
        next_cursor: hasMore ? (found.at(-1)?.jobId ?? null) : null,
      });
    }),
    routing.keyed(getJob, async (call, { accountId }) => {
      meter.countCall({ accountId }, call.route);
      return json(view(await jobs.find(accountId, idOf(call))));
    }),
    routing.keyed(jobEvents, async (call, { accountId }) => {
      const jobId = idOf(call);
      await jobs.find(accountId, jobId);
      meter.countCall({ accountId }, call.route);
      const find = () => jobs.find(accountId, jobId).catch(nullWhereGone);
      return jobEventStream(call, { find, view, readerStallMs, shares: eventStreams, tenant: accountId });
    }),
    routing.keyed(jobResults, async (call, { accountId }) => {
      const query = readResultsQuery(call.request.url);
      const job = jobOf(await jobs.find(accountId, idOf(call)));
      meter.countCall({ accountId }, call.route);
      return downloadOf(call, job, query, { results, readerStallMs });
    }),
    routing.keyed(pauseJob, steer(jobs.pause)),
    routing.keyed(resumeJob, steer(jobs.resume)),
    routing.keyed(cancelJob, steer(jobs.cancel)),
    routing.keyed(deleteJob, async (call, { accountId }) => {
      await given.turns.turnOf(accountId);
      await jobs.remove(accountId, idOf(call));
      meter.countCall({ accountId }, call.route);
      return { status: 204, body: null };
    }),
  ];
}

/** Returns the reply to a change of a job. It may be made again, so its reply is kept behind it. */
async function repeatable(
  { meter, idempotent, bodies }: Pick<JobRouteDependencies, "meter" | "idempotent" | "bodies">,
  call: Call,
  account: Account,
  change: () => Promise<string>,
): Promise<Reply> {
  using sent = await bodies.read(call.request, { tenant: account.accountId });
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

/** Receives the input, and only then refuses or starts the job. */
async function create(
  { jobs, meter, idempotent, clock, requests, arriving, turns }: CallDependencies,
  call: Call,
  account: Account,
  fields: Parameters<JobRequestReader["request"]>[1],
): Promise<Reply> {
  const { accountId } = account;
  const request = { ...(await requests.request(accountId, fields)), form: formOf(call.request) };
  if (call.request.body === null) throw new ApiError("invalid_request", "The body is empty.");
  call.suspendIdleTimeout();
  const hash = new Bun.CryptoHasher("sha256");
  const slices = slicesOf(call.request);
  await turns.turnOf(accountId);
  const job = await jobs.begin(account, request, { mayRepeat: call.request.headers.has("idempotency-key") });
  using arrival = arriving.begin(account, call);
  let isStarted = false;
  try {
    const input = {
      async next() {
        const { done, value } = await slices.next();
        if (done === true) return null;
        hash.update(value);
        return value;
      },
      signal: call.request.signal,
    };
    const over = requests.fieldsOver(accountId, request);
    const received = await jobs.receive(account, job, request, input, over);
    // The fingerprint of a call is known when the whole body is.
    const digest = () => hash.digest("hex");
    return await idempotent.run(call, account, digest, async (entry) => {
      const location = { Location: `/v1/jobs/${job.jobId}` };
      const written = (queued: JobRecord) => JSON.stringify(jobView(queued, clock.now()));
      await turns.turnOf(accountId);
      const queued = await jobs.start(
        account,
        received,
        entry === null
          ? null
          : (planned) => entry.keep({ status: 202, headers: location, body: written(planned) }),
        arrival.others(),
      );
      isStarted = true;
      meter.countCall({ accountId }, call.route);
      return { status: 202, body: written(queued), headers: location };
    });
  } finally {
    if (!isStarted) {
      await turns.turnOf(accountId);
      await jobs.drop(job.jobId);
    }
  }
}
