import { Type } from "@sinclair/typebox";
import { operation } from "../operation.ts";
import { jobId } from "./job-fields.ts";
import { oneJob } from "./job-replies.ts";

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
    "Parts may come in any order and again at will: the last one that came whole counts. Each has at most 64 MB. `Content-MD5`, `Digest` and `Content-Digest` are checked where they are sent. A Content-Encoding is that of the part; the type and the charset that parts name are those of the whole input, and must agree; a part that alone has named the type, or the charset, may name another when it is sent again.",
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
