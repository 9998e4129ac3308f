import { Type } from "@sinclair/typebox";
import { DEFAULTS } from "../../defaults.ts";
import { Line, Word } from "../../schema.ts";
import { described, jsonReply, operation } from "../operation.ts";
import { JobQuery, JobRequest, jobId } from "./job-fields.ts";
import { putJobPart, startJob } from "./job-parts.ts";
import { JOB_STATUSES, JobPage, oneJob } from "./job-replies.ts";
import { jobResults } from "./job-results.ts";

const READS_JOBS = { tag: "Jobs", access: "key", scopes: ["read", "verify"] } as const;

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
  ...READS_JOBS,
  summary: "The jobs of the account, newest first",
  query: described(
    Type.Object({
      status: Type.Optional(Word(JOB_STATUSES)),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      starting_after: Type.Optional(Line(100)),
    }),
    {
      status: "Only jobs in this state.",
      limit: `At most this many; ${DEFAULTS.jobsLimit} where it is not named.`,
      starting_after: "The id of the last job of the page before.",
    },
  ),
  replies: { 200: jsonReply("A page of jobs.", JobPage) },
  refusals: ["invalid_request"],
});

export const getJob = operation({
  operationId: "getJob",
  method: "GET",
  path: "/v1/jobs/:job_id",
  parameters: jobId,
  summary: "How far a job is",
  ...READS_JOBS,
  query: Type.Object({}),
  replies: { 200: oneJob("The job.") },
  refusals: ["not_found"],
});

export const jobEvents = operation({
  operationId: "jobEvents",
  method: "GET",
  path: "/v1/jobs/:job_id/events",
  parameters: jobId,
  summary: "The job at each change, until it ends",
  description: "At most twice a second; a comment every 10 seconds. `Last-Event-ID` is taken.",
  ...READS_JOBS,
  query: Type.Object({}),
  replies: {
    200: {
      description: "Events with the job as data.",
      headers: ["Cache-Control", "X-Accel-Buffering"],
      content: { "text/event-stream": Type.String() },
    },
    204: {
      description: "The job has ended, and `Last-Event-ID` is that of its last event.",
      headers: ["Cache-Control"],
    },
  },
  refusals: ["not_found"],
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
    idempotent: true,
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

export const JOB_OPERATIONS = [
  createJob,
  putJobPart,
  startJob,
  listJobs,
  getJob,
  jobEvents,
  jobResults,
  pauseJob,
  resumeJob,
  cancelJob,
  deleteJob,
];
