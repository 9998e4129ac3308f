import type { Account } from "../../accounts/key-ring.ts";
import type { IdempotentCall } from "../../billing/idempotency.ts";
import type { Meter } from "../../billing/meter.ts";
import { ApiError } from "../../contract/errors.ts";
import { PART_BYTES_MAX } from "../../contract/words.ts";
import { partTooLarge } from "../../jobs/uploads/part-rules.ts";
import { PARTS_MAX, type Uploads } from "../../jobs/uploads/uploads.ts";
import type { Clock } from "../../platform/clock.ts";
import type { FairTurns } from "../../platform/fair-turns.ts";
import type { JobRecord } from "../../store/job-records.ts";
import type { BodyReader } from "../bodies/body-reader.ts";
import { bodySlices } from "../bodies/body-slices.ts";
import { namedCharset } from "../bodies/charset.ts";
import { bodyEncoding, decodedParts } from "../bodies/content-encoding.ts";
import { digestCheck } from "../bodies/digest-check.ts";
import type { Call } from "../call.ts";
import { type Idempotent, keepBehind } from "../idempotent.ts";
import type { Reply } from "../reply.ts";
import { untilEnd } from "../unread-bodies.ts";
import { jobReply } from "./job-reply.ts";
import { type JobRequestReader, knownForm, readUpload, withCharset } from "./job-request.ts";

export type UploadCallDependencies = {
  readonly uploads: Uploads;
  readonly meter: Pick<Meter, "countCall" | "reserve">;
  readonly idempotent: Idempotent;
  readonly clock: Clock;
  readonly requests: JobRequestReader;
  /** For calls without an input. */
  readonly bodies: BodyReader;
  readonly turns: FairTurns;
};

/** Answers `POST /v1/jobs?upload=parts`: a job that waits for its parts. */
export async function createUpload(
  { uploads, meter, idempotent, clock, requests, bodies, turns }: UploadCallDependencies,
  call: Call,
  account: Account,
  fields: Parameters<JobRequestReader["request"]>[1],
): Promise<Reply> {
  const { accountId } = account;
  using body = await bodies.read(call.request, { tenant: accountId });
  const said = readUpload(call.request, body.bytes);
  const { upload } = said;
  const whole = withCharset({ ...fields, ...said.fields }, call.request);
  const request = await requests.request(accountId, whole);
  return await idempotent.run(call, account, body.digest, async (entry) => {
    const replyOf = (job: JobRecord) => jobReply(201, job, clock.now());
    await turns.turnOf(accountId);
    const job = await uploads.create(account, request, upload, (made) => entry?.keep(replyOf(made)) ?? null);
    meter.countCall({ accountId }, call.route);
    return replyOf(job);
  });
}

/** Answers `PUT /v1/jobs/:job_id/parts/:part`. */
export async function putPart(
  { uploads, meter, turns }: UploadCallDependencies,
  call: Call,
  account: Account,
): Promise<Reply> {
  const { request } = call;
  const { job_id: jobId = "", part = "" } = call.params;
  const n = /^[1-9]\d{0,4}$/.test(part) ? Number(part) : 0;
  if (n < 1 || n > PARTS_MAX) {
    throw new ApiError("invalid_request", `The number of a part must be from 1 to ${PARTS_MAX}.`);
  }
  const encoding = bodyEncoding(request);
  const charset = namedCharset(request);
  const digest = digestCheck(request.headers);
  if (encoding === null && Number(request.headers.get("content-length") ?? 0) > PART_BYTES_MAX) {
    throw partTooLarge();
  }
  await uploads.requireReceiving(account.accountId, jobId);
  const body = request.body === null ? null : untilEnd(call, digested(request.body, digest.update));
  const turn = () => turns.turnOf(account.accountId);
  const decoded = body === null ? nothing() : encoding === null ? body : decodedParts(body, encoding, turn);
  const uploaded = { jobId, n, form: knownForm(request), charset, check: digest.check };
  await uploads.put(account, uploaded, decoded);
  meter.countCall({ accountId: account.accountId }, call.route);
  return { status: 204, body: null };
}

/** Answers `POST /v1/jobs/:job_id/start`. */
export async function startUpload(
  { uploads, meter, idempotent, clock, requests, bodies, turns }: UploadCallDependencies,
  call: Call,
  account: Account,
): Promise<Reply> {
  const { accountId } = account;
  const { job_id: jobId = "" } = call.params;
  using body = await bodies.read(call.request, { tenant: accountId });
  call.suspendIdleTimeout();
  return await idempotent.run(call, account, body.digest, async (entry) => {
    const replyOf = (job: JobRecord) => jobReply(202, job, clock.now());
    let isKept = false;
    const keepWith = (kept: IdempotentCall) => (planned: JobRecord) => {
      isKept = true;
      return kept.keep(replyOf(planned));
    };
    await turns.turnOf(accountId);
    const job = await uploads.start(account, jobId, {
      decode: (bytes, encoding) => decodedParts(bytes, encoding, () => turns.turnOf(accountId)),
      readFields: (request) => requests.fieldsOver(accountId, request),
      keep: entry === null ? null : keepWith(entry),
    });
    const reply = replyOf(job);
    if (entry === null || isKept) meter.countCall({ accountId }, call.route);
    // Another call has started it.
    else await keepBehind(meter, call, account, entry.keep(reply));
    return reply;
  });
}

async function* digested(
  body: ReadableStream<Uint8Array>,
  update: (bytes: Uint8Array) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const bytes of bodySlices(body)) {
    update(bytes);
    yield bytes;
  }
}

async function* nothing(): AsyncGenerator<Uint8Array, void, undefined> {}
