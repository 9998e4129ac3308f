import { Type } from "@sinclair/typebox";
import { REASONS } from "../../email-reasons.ts";
import { EMAIL_STATUSES, EMAIL_SUB_STATUSES } from "../../words.ts";
import { type Body, count, text, textOrNull, word } from "../reply-schema.ts";
import { batchCost, batchOf } from "./batch-replies.ts";

/** The verdict on one address. */
export const EmailResult = Type.Object(
  {
    email: text("The address as given."),
    status: word(EMAIL_STATUSES, "Whether mail arrives. `unknown` where we could not find out."),
    sub_status: word(EMAIL_SUB_STATUSES, "The one primary cause of the status."),
    score: Type.Integer({
      minimum: 0,
      maximum: 100,
      description: "Undeliverable 0, unknown 20 to 50, risky 1 to 79, deliverable 80 to 100.",
    }),
    normalized: text(
      "A key for finding duplicates: two spellings of one mailbox have the same. Empty where the address cannot be parsed.",
    ),
    has_mx: Type.Boolean({ description: "The domain names mail hosts." }),
    mx_hosts: Type.Array(Type.String(), {
      description: "The mail hosts by preference, lower case, without trailing dot.",
    }),
    is_disposable: Type.Boolean({
      description: "The domain, or the host that takes its mail, serves throwaway addresses.",
    }),
    is_role: Type.Boolean({ description: "The mailbox stands for a function, such as `info`." }),
    is_free_provider: Type.Boolean({ description: "Anybody may open a mailbox at this provider." }),
    gibberish_score: Type.Number({
      minimum: 0,
      maximum: 1,
      description: "How random the part before the @ looks.",
    }),
    did_you_mean: textOrNull("The full address that was probably meant."),
    reasons: Type.Array(Type.Unsafe<string>(Type.String({ enum: Object.keys(REASONS) })), {
      description: "Every finding that moved the verdict or the score, most important first.",
    }),
  },
  { $id: "EmailResult" },
);

/** How many results of a batch have each status, and what it cost. */
export const EmailSummary = Type.Object(
  {
    deliverable: count("Results with this status."),
    risky: count("Results with this status."),
    undeliverable: count("Results with this status."),
    unknown: count("Results with this status."),
    ...batchCost,
  },
  { $id: "EmailSummary" },
);

export const EmailBatch = batchOf("EmailBatch", EmailResult, EmailSummary);
export type EmailResultBody = Body<typeof EmailResult>;
