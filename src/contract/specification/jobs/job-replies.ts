import { Type } from "@sinclair/typebox";
import { Word } from "../../schema.ts";
import { jsonReply } from "../operation.ts";

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

/** Returns the reply that is one job. */
export const oneJob = (description: string) => jsonReply(description, Job);
