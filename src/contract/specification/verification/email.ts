import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import { EmailBatchQuery, EmailQuery } from "../../result-schemas.ts";
import { described, jsonReply, operation, type Sample } from "../operation.ts";
import { EmailBatch, EmailResult } from "./email-replies.ts";
import { DESCRIPTIONS, EmailBatchRequest, EmailRequest } from "./verification-requests.ts";

const flags = {
  deep: `${DESCRIPTIONS.deep} Written as true, false, 1 or 0, in any case.`,
  dns: `${DESCRIPTIONS.dns} Written as true, false, 1 or 0, in any case.`,
};
const query = described(EmailQuery, {
  email: `${DESCRIPTIONS.email} A space where only a plus makes sense is read as one.`,
  ...flags,
});

const VERIFICATION = {
  path: "/v1/email/verify",
  tag: "Email",
  access: "key",
  replies: { 200: jsonReply("The verdict.", EmailResult) },
} as const;

const missing: Sample = { summary: "No address", status: 400 };

export const verifyEmail = operation({
  ...VERIFICATION,
  operationId: "verifyEmail",
  method: "GET",
  summary: "Verify an address",
  description:
    "Costs 1 unit, with `deep` 2. Nothing where `sub_status` is `dns_timeout`, `dns_error` or `check_failed`: then our look-up failed. No mail is sent and no mailbox is probed.",
  query,
  refusals: ["invalid_request", "quota_exceeded"],
  samples: {
    deliverable: { summary: "A mailbox that takes mail", query: { email: "jane.doe+news@gmail.com" } },
    typo: { summary: "A slip in the domain", query: { email: "jane.doe@gmial.com" } },
    deep: {
      summary: "With SPF and DMARC",
      query: { email: "jane.doe@analytical-engine.com", deep: true },
    },
    syntax: { summary: "No address at all", query: { email: "jane..doe@gmail.com" } },
    no_dns: { summary: "The address alone", query: { email: "info@gmail.com", dns: false } },
    email_missing: missing,
    bad_flag: {
      summary: "An invalid flag",
      status: 400,
      query: { email: "jane.doe@gmail.com", deep: "yes" },
    },
  },
});

export const verifyEmailPost = operation({
  ...VERIFICATION,
  operationId: "verifyEmailPost",
  method: "POST",
  summary: "Verify an address that stays out of logs",
  description: "The same as GET, with the address in the body instead of the URL.",
  idempotent: true,
  body: { "application/json": EmailRequest },
  refusals: ["quota_exceeded"],
  samples: {
    role: { summary: "A mailbox of a function", body: { email: "info@analytical-engine.com", deep: true } },
    disposable: { summary: "A throwaway address", body: { email: "jane@mailinator.com" } },
    no_mail: { summary: "A domain that takes no mail", body: { email: "jane@null-mx.com" } },
    email_missing: { ...missing, body: {} },
    not_text: { summary: "A number for an address", status: 400, body: { email: 7 } },
  },
});

const lines = Type.String({
  description:
    "One item per line; blank lines are passed over. In UTF-8, or in the charset that Content-Type names.",
});

/** The three forms in which a batch may be sent. */
export const batchBodies = <Body extends TSchema>(json: Body) => ({
  "application/json": json,
  "application/x-ndjson": lines,
  "text/plain": lines,
});

/**
 * A batch as lines. No `type` is demanded, because a body of lines is no JSON value: with one, typed clients would have
 * a text beside the object of the JSON form, and no field that they could read.
 */
const batchLines = ({ properties, required = [] }: TObject) =>
  Type.Unsafe<string>({
    description:
      "One JSON object per line: the results, then one with `count` and `summary`. Together they have these fields.",
    properties,
    required,
  });

/** The two forms in which a batch is answered. */
export const batchReply = (batch: TObject) => ({
  description:
    "The results in the order of the request, one for each item. The body is written as they become ready, the summary last. As NDJSON: one result per line, then a line with `count` and `summary`; a reply without it is incomplete.",
  content: {
    "application/json": batch,
    "application/x-ndjson": batchLines(batch),
  },
});

export const verifyEmails = operation({
  operationId: "verifyEmails",
  method: "POST",
  path: "/v1/email/batch",
  tag: "Email",
  summary: "Verify a batch of addresses",
  description:
    'Each distinct address costs what it would cost alone; one that is repeated to the letter is charged once. An address that is not valid is a result, never an error. A batch that would pass the hard stop is refused whole, before any work. As JSON, or one address (or JSON string, or `{"email"}`) per line; `deep` and `dns` are then in the query.',
  access: "key",
  idempotent: true,
  query: described(EmailBatchQuery, flags),
  body: batchBodies(EmailBatchRequest),
  replies: { 200: batchReply(EmailBatch) },
  refusals: ["batch_too_large", "quota_exceeded"],
  samples: {
    three: {
      summary: "Three addresses, one of them twice",
      body: {
        emails: ["jane.doe@gmail.com", "jane..doe@gmail.com", "jane@null-mx.com", "jane.doe@gmail.com"],
      },
    },
    empty: { summary: "An empty list", body: { emails: [] } },
    text: {
      summary: "Lines of text in, NDJSON out",
      bodyType: "text/plain",
      body: "jane.doe@gmail.com\ninfo@analytical-engine.com\n",
      accept: "application/x-ndjson",
    },
    not_a_list: { summary: "No list", status: 400, body: { emails: "jane.doe@gmail.com" } },
  },
});
