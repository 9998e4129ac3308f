import { Type } from "@sinclair/typebox";
import { DEFAULTS } from "../defaults.ts";
import { PhoneCountry } from "../phone-country.ts";
import { Word } from "../schema.ts";
import { DOCUMENT_TYPES } from "../words.ts";
import { described, operation } from "./operation.ts";

export const JOB_STATUSES = [
  "receiving",
  "queued",
  "running",
  "paused",
  "cancelling",
  "cancelled",
  "completed",
  "failed",
] as const;

const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const time = (description: string) =>
  Type.Union([Type.String({ format: "date-time" }), Type.Null()], { description });
const count = (description: string) => Type.Integer({ minimum: 0, description });

export const Job = Type.Object(
  {
    job_id: Type.String(),
    kind: Word(["email", "identity", "phone"]),
    name: nullable("What the caller calls it."),
    status: Word(JOB_STATUSES),
    status_reason: nullable("Why it is paused, failed or cancelled: `out_of_units`, `by_caller`, `storage`."),
    created_at: Type.String({ format: "date-time" }),
    started_at: time("When its first chunk was taken up."),
    finished_at: time("When it ended."),
    expires_at: time("When input and results are erased."),
    options: Type.Object({
      deep: Type.Boolean(),
      dns: Type.Boolean(),
      country: nullable("Of phone numbers without an international prefix."),
      type: nullable("Of documents."),
      column: nullable("Of a CSV file."),
      delimiter: nullable("Of a CSV file."),
      encoding: nullable("Of the text."),
      when_out_of_units: Word(["refuse", "pause"]),
      webhook_url: nullable("What is called when the job ends, beside the account's webhooks."),
    }),
    counts: Type.Object(
      {
        rows: count("Rows of the input."),
        distinct: count("Rows that repeat no earlier one: each is charged once."),
        duplicates: count("Rows that repeat an earlier one."),
        processed: count("Rows whose results stand."),
      },
      {
        additionalProperties: Type.Integer(),
        description: "And a number for each word of a batch's summary.",
      },
    ),
    units_charged: count("Over the chunks whose results can be read."),
    progress: Type.Number({ minimum: 0, maximum: 1 }),
    rows_per_second: Type.Union([Type.Integer(), Type.Null()]),
    eta_seconds: Type.Union([Type.Integer(), Type.Null()]),
    results_url: Type.String(),
  },
  { $id: "Job" },
);

export const JobPage = Type.Object(
  {
    data: Type.Array(Job),
    has_more: Type.Boolean(),
    next_cursor: nullable("For `starting_after`."),
  },
  { $id: "JobPage" },
);

export const JobResults = Type.Object(
  {
    results: Type.Array(Type.Object({ row: Type.Integer() }, { additionalProperties: true })),
    count: Type.Integer(),
  },
  { $id: "JobResults" },
);

const options = {
  kind: Type.Optional(Word(["email", "identity", "phone"])),
  name: Type.Optional(Type.String({ maxLength: 200 })),
  deep: Type.Optional(Type.Boolean()),
  dns: Type.Optional(Type.Boolean()),
  country: Type.Optional(PhoneCountry),
  type: Type.Optional(Word(DOCUMENT_TYPES)),
  when_out_of_units: Type.Optional(Word(["refuse", "pause"])),
  webhook_url: Type.Optional(Type.String({ maxLength: 2_000 })),
};

const optionTexts = {
  kind: `What the rows are; ${DEFAULTS.jobKind} where it is not named.`,
  name: "Your own name for the job.",
  deep: "As for a batch of addresses.",
  dns: "As for a batch of addresses.",
  country: "As for a batch of phone numbers.",
  type: "The type of all documents that name none; without it each is detected.",
  when_out_of_units: "`refuse` (402 at the start) or `pause` (go on when there are units again).",
  webhook_url:
    "An https address that receives the events of this job alone, signed with the secret of the account's first webhook.",
};

const csvOptions = {
  column: Type.Optional(Type.String({ maxLength: 200 })),
  delimiter: Type.Optional(Type.String({ pattern: "^[^\\ud800-\\udfff]$", demand: "must be one character" })),
  encoding: Type.Optional(Type.String({ maxLength: 40 })),
};

const csvTexts = {
  column: "The column of a CSV file by its header or its number from 1; found where it is not named.",
  delimiter: "Of a CSV file; found where it is not named.",
  encoding:
    "A label of the WHATWG Encoding Standard such as `windows-1252`; UTF-8, or what a byte order mark says, where it is not named.",
};

export const JobQuery = described(
  Type.Object({ ...options, ...csvOptions, upload: Type.Optional(Word(["parts"])) }),
  {
    ...optionTexts,
    ...csvTexts,
    upload:
      "`parts`: the input comes in parts, and the call has no body or JSON with options. Its Content-Type and Content-Encoding are those of the whole input.",
  },
);

/** What a call that creates an upload may say in its body. */
export const UploadFields = described(Type.Object({ ...options, ...csvOptions }), {
  ...optionTexts,
  ...csvTexts,
});

export const JobFields = described(Type.Object({ ...options }), optionTexts);

export const JobRequest = described(
  Type.Object({
    ...options,
    items: Type.Array(
      Type.Union([Type.String(), Type.Object({ type: Type.Optional(Type.String()), value: Type.String() })]),
    ),
  }),
  { ...optionTexts, items: "Addresses or phone numbers as strings, documents as strings or objects." },
  "JobRequest",
);

const oneJob = (description: string) => ({ description, content: { "application/json": Job } });
const jobId = { job_id: "The job's id." };

export const createJob = operation({
  operationId: "createJob",
  method: "POST",
  path: "/v1/jobs",
  tag: "Jobs",
  summary: "Verify a list of up to ten million rows",
  description:
    "The body streams to the disk; when it has been read the job is durable, and answered with 202. `text/plain` has one item a line, `application/x-ndjson` one JSON value, `text/csv` a column of items. `Content-Encoding` gzip, zstd and deflate are taken. Each distinct row is charged once.",
  access: "key",
  idempotent: true,
  query: JobQuery,
  body: {
    "application/json": JobRequest,
    "text/plain": Type.String(),
    "application/x-ndjson": Type.String(),
    "text/csv": Type.String(),
  },
  bodyRequired: false,
  replies: {
    201: { ...oneJob("With `upload=parts`: the job, which waits for its parts."), headers: ["Location"] },
    202: { ...oneJob("The job."), headers: ["Location"] },
  },
  refusals: [
    "invalid_request",
    "quota_exceeded",
    "too_many_jobs",
    "payload_too_large",
    "unsupported_media_type",
  ],
});

export const listJobs = operation({
  operationId: "listJobs",
  method: "GET",
  path: "/v1/jobs",
  tag: "Jobs",
  summary: "The jobs of the account, newest first",
  access: "key",
  scopes: ["read", "verify"],
  query: described(
    Type.Object({
      status: Type.Optional(Word(JOB_STATUSES)),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      starting_after: Type.Optional(Type.String()),
    }),
    {
      status: "Only jobs in this state.",
      limit: `At most this many; ${DEFAULTS.jobsLimit} where it is not named.`,
      starting_after: "The id of the last job of the page before.",
    },
  ),
  replies: { 200: { description: "A page of jobs.", content: { "application/json": JobPage } } },
  refusals: ["invalid_request"],
});

export const getJob = operation({
  operationId: "getJob",
  method: "GET",
  path: "/v1/jobs/:job_id",
  parameters: jobId,
  tag: "Jobs",
  summary: "How far a job is",
  access: "key",
  scopes: ["read", "verify"],
  query: Type.Object({}),
  replies: { 200: oneJob("The job.") },
  refusals: ["not_found"],
});

export const jobEvents = operation({
  operationId: "jobEvents",
  method: "GET",
  path: "/v1/jobs/:job_id/events",
  parameters: jobId,
  tag: "Jobs",
  summary: "The job at each change, until it ends",
  description: "At most twice a second; a comment every 10 seconds. `Last-Event-ID` is taken.",
  access: "key",
  scopes: ["read", "verify"],
  query: Type.Object({}),
  replies: {
    200: { description: "Events with the job as data.", content: { "text/event-stream": Type.String() } },
  },
  refusals: ["not_found"],
});

export const jobResults = operation({
  operationId: "jobResults",
  method: "GET",
  path: "/v1/jobs/:job_id/results",
  parameters: jobId,
  tag: "Jobs",
  summary: "The results in the order of the input",
  description:
    "Each has `row`, the place in the input from 1, a header not counted. CSV has the original columns and then ours. While the job runs: what is finished without a gap, with `X-Job-Complete: false`. When it is done, `Range` asks for a part of what is not filtered.",
  access: "key",
  query: described(
    Type.Object({
      format: Type.Optional(Word(["ndjson", "csv", "json"])),
      status: Type.Optional(Type.String({ maxLength: 200 })),
      sub_status: Type.Optional(Type.String({ maxLength: 400 })),
      only: Type.Optional(Type.String({ maxLength: 200 })),
    }),
    {
      format: "ndjson unless named.",
      status: "Only results with this status, or one of several between commas.",
      sub_status: "Only results with this sub_status, or one of several between commas.",
      only: "As `status`.",
    },
  ),
  replies: {
    200: {
      description: "The results.",
      headers: ["X-Job-Complete", "ETag", "Accept-Ranges"],
      content: {
        "application/x-ndjson": Type.String(),
        "text/csv": Type.String(),
        "application/json": JobResults,
      },
    },
    206: {
      description: "A part of them.",
      headers: ["Content-Range"],
      content: { "application/x-ndjson": Type.String() },
    },
  },
  refusals: ["invalid_request", "not_found", "job_not_ready", "gone"],
});

export const putJobPart = operation({
  operationId: "putJobPart",
  method: "PUT",
  path: "/v1/jobs/:job_id/parts/:part",
  parameters: {
    ...jobId,
    part: Type.Integer({ minimum: 1, maximum: 10_000, description: "The number of the part." }),
  },
  tag: "Jobs",
  summary: "Send a part of a job's input",
  description:
    "Parts may come in any order and again at will: the last one that came whole counts. Each has at most 64 MB. `Content-MD5`, `Digest` and `Content-Digest` are checked where they are sent. A Content-Encoding is that of the part.",
  access: "key",
  bytes: "The bytes of the part.",
  replies: { 204: { description: "The part is on the disk." } },
  refusals: [
    "invalid_request",
    "payload_too_large",
    "unsupported_media_type",
    "not_found",
    "job_not_ready",
    "job_finished",
  ],
});

export const startJob = operation({
  operationId: "startJob",
  method: "POST",
  path: "/v1/jobs/:job_id/start",
  parameters: jobId,
  tag: "Jobs",
  summary: "Start a job whose parts are there",
  description:
    "Puts the parts together in the order of their numbers and reads them. May be repeated; it goes on when its caller leaves. An input that is refused with 400 is dropped, one that there are no units for (402) stays.",
  access: "key",
  idempotent: true,
  replies: { 202: { ...oneJob("The job."), headers: ["Location"] } },
  refusals: [
    "invalid_request",
    "invalid_json",
    "quota_exceeded",
    "too_many_jobs",
    "payload_too_large",
    "unsupported_media_type",
    "not_found",
    "job_not_ready",
  ],
});

const steer = (operationId: string, verb: string, summary: string) =>
  operation({
    operationId,
    method: "POST",
    path: `/v1/jobs/:job_id/${verb}`,
    parameters: jobId,
    tag: "Jobs",
    summary,
    access: "key",
    replies: { 200: oneJob("The job.") },
    refusals: ["not_found", "job_not_ready", "job_finished"],
  });

export const pauseJob = steer("pauseJob", "pause", "Pause a job; what is finished stays");
export const resumeJob = steer("resumeJob", "resume", "Go on with a paused job");
export const cancelJob = steer("cancelJob", "cancel", "End a job; what is finished stays, and stays charged");

export const deleteJob = operation({
  operationId: "deleteJob",
  method: "DELETE",
  path: "/v1/jobs/:job_id",
  parameters: jobId,
  tag: "Jobs",
  summary: "Erase a job's input and results",
  access: "key",
  replies: { 204: { description: "They are gone." } },
  refusals: ["not_found"],
});
