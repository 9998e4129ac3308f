import { Type } from "@sinclair/typebox";
import { Word } from "../../schema.ts";
import { described, operation } from "../operation.ts";
import { ErrorBody } from "../service/service-replies.ts";
import { jobId } from "./job-fields.ts";
import { JobResults } from "./job-replies.ts";

export const jobResults = operation({
  operationId: "jobResults",
  method: "GET",
  path: "/v1/jobs/:job_id/results",
  parameters: jobId,
  tag: "Jobs",
  summary: "The results in the order of the input",
  description:
    "Each has `row`, the place in the input from 1, a header not counted. CSV has the original columns and then ours; a card number in the verified column is masked. While the job runs: what is finished without a gap, with `X-Job-Complete: false`. When it is done, and unless they are filtered: `HEAD` has their length, which CSV of millions of rows takes seconds to count, and `Range` a part of them, as they are without compression. Replies of more than two megabytes, and smaller ones of which an account reads dozens at once, come in chunks, without `Content-Length`.",
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
      headers: ["X-Job-Complete", "ETag", "Cache-Control", "Accept-Ranges"],
      content: {
        "application/x-ndjson": Type.String(),
        "text/csv": Type.String(),
        "application/json": JobResults,
      },
    },
    206: {
      description: "A part of them.",
      headers: ["Content-Range", "X-Job-Complete", "ETag", "Accept-Ranges"],
      content: {
        "application/x-ndjson": Type.String(),
        "text/csv": Type.String(),
        "application/json": Type.String(),
      },
    },
    304: { description: "They are still the same.", headers: ["X-Job-Complete", "ETag"] },
    416: {
      description: "`Range` names no byte of theirs.",
      headers: ["Content-Range", "X-Job-Complete", "ETag", "Accept-Ranges"],
      content: { "application/json": ErrorBody },
    },
  },
  refusals: ["invalid_request", "not_found", "job_not_ready", "gone"],
});
