import type { Account } from "../../accounts/key-ring.ts";
import type { Meter } from "../../billing/meter.ts";
import { ApiError } from "../../contract/errors.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import type { Clock } from "../../platform/clock.ts";
import type { FairTurns } from "../../platform/fair-turns.ts";
import { createTally } from "../../platform/tally.ts";
import type { JobRecord } from "../../store/job-records.ts";
import { slicesOf } from "../bodies/request-body.ts";
import { withinSilence } from "../bodies/silence.ts";
import type { Call } from "../call.ts";
import type { Idempotent } from "../idempotent.ts";
import type { Reply } from "../reply.ts";
import { untilEnd } from "../unread-bodies.ts";
import { jobReply } from "./job-reply.ts";
import { formOf, type JobRequestReader, withCharset } from "./job-request.ts";

export type JobCreateDependencies = {
  readonly jobs: Jobs;
  readonly meter: Meter;
  readonly idempotent: Idempotent;
  readonly clock: Clock;
  readonly turns: FairTurns;
  readonly requests: JobRequestReader;
  readonly arriving: InputArrivals;
  /** How long the input may fall silent. */
  readonly readerStallMs: number;
};

/** Inputs that are being received under Idempotency-Keys. Of those under one key at most one becomes a job. */
export type InputArrivals = {
  /** Counts the call; `others` returns how many more of the account are being received under its key. */
  readonly begin: (account: Account, call: Call) => { readonly others: () => number } & Disposable;
};

export function createInputArrivals(): InputArrivals {
  const tally = createTally();
  return {
    begin({ accountId }, { request }) {
      const key = request.headers.get("idempotency-key");
      if (key === null) return { others: () => 0, [Symbol.dispose]: () => {} };
      const name = `${accountId} ${key}`;
      tally.add(name, 1);
      return { others: () => tally.count(name) - 1, [Symbol.dispose]: () => tally.add(name, -1) };
    },
  };
}

/** Receives the whole input before the job is started or refused. */
export async function createFromBody(
  { jobs, meter, idempotent, clock, requests, arriving, turns, readerStallMs }: JobCreateDependencies,
  call: Call,
  account: Account,
  fields: Parameters<JobRequestReader["request"]>[1],
): Promise<Reply> {
  const { accountId } = account;
  const form = formOf(call.request);
  const request = { ...(await requests.request(accountId, withCharset(fields, call.request))), form };
  const { body } = call.request;
  if (body === null) throw new ApiError("invalid_request", "The body is empty.");
  call.suspendIdleTimeout();
  const hash = new Bun.CryptoHasher("sha256");
  const turn = () => turns.turnOf(accountId);
  // Encoded data may end before the body does: what counts is the end of the body as it is sent.
  const decoded = slicesOf(call.request, { body: untilEnd(call, body), turn });
  // The job of a caller who left without a word would count among those that its account may have, for a day.
  const slices = withinSilence(decoded, readerStallMs);
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
    // The fingerprint of a call covers its whole body.
    const digest = () => hash.digest("hex");
    return await idempotent.run(call, account, digest, async (entry) => {
      const replyOf = (queued: JobRecord) => jobReply(202, queued, clock.now());
      await turns.turnOf(accountId);
      const queued = await jobs.start(
        account,
        received,
        entry === null ? null : (planned) => entry.keep(replyOf(planned)),
        arrival.others(),
      );
      isStarted = true;
      meter.countCall({ accountId }, call.route);
      return replyOf(queued);
    });
  } finally {
    if (!isStarted) {
      await turns.turnOf(accountId);
      await jobs.drop(job.jobId);
    }
  }
}
