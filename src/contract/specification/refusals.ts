import { ERRORS, type ErrorCode } from "../errors.ts";
import { type HeaderName, headerRefs, KEY_HEADERS } from "./headers.ts";
import { type JsonObject, schemaRef } from "./openapi-schema.ts";
import { ErrorBody } from "./service-replies.ts";

/** When a caller meets each code, where the code's own message does not say it. */
const MEANINGS: { readonly [code in ErrorCode]: string } = {
  invalid_request:
    "A parameter, a field or a header is missing or not what it must be; the message names it.",
  invalid_json: "The body is not valid JSON.",
  unusable_email:
    "The address cannot receive mail: bad syntax, a throwaway domain, or one that takes no mail.",
  batch_too_large: "The batch has more items than the plan's `max_batch_size`.",
  missing_key: "There is no `Authorization: Bearer <key>`.",
  bad_key: "The key is mistyped, unknown, or has been rotated away.",
  quota_exceeded:
    "The plan's included units, or what the spend limit pays for, would be passed. Nothing was done.",
  not_found: "There is nothing at this path, or no such listing.",
  method_not_allowed: "The path takes other methods: those in `Allow`.",
  account_exists: "The mailbox has an account, however it is spelled.",
  idempotency_in_progress: "A call with this Idempotency-Key is still running.",
  payload_too_large: "The body is larger than this route takes.",
  unsupported_media_type: "The body's Content-Type is none that this route takes.",
  idempotency_mismatch:
    "This Idempotency-Key was used with another API key, path, query, `Content-Type`, `Accept` or body; the message says which.",
  rate_limited:
    "More calls than the plan, or for public routes the address, may make. Wait for `Retry-After`.",
  internal_error: "A fault of ours. It is logged under the request id, and nothing is charged.",
  overloaded: "The server is at one of its limits. Nothing was done; try again after `Retry-After`.",
  shutting_down: "The server is about to stop. Try again after `Retry-After`.",
  storage_unavailable: "The database cannot be written, so nothing can be charged or answered.",
  directory_unavailable: "The directory has no snapshot yet.",
  payment_required: "Paid services: pay with x402, as `PAYMENT-REQUIRED` and the body say.",
  payment_invalid: "Paid services: the payment does not fit, or it was not settled. Nothing was charged.",
  payment_in_use: "Paid services: a call with this payment is still running.",
  upstream_failed: "Paid services: a server that the call depends on does not answer. Nothing was charged.",
  settlement_unknown:
    "Paid services: the payment may have been settled. Send the same payment again after `Retry-After`.",
  processing: "Paid services: the work goes on; ask again with the same payment. Nothing was charged.",
};

/** Each code with its status and when a caller meets it: the source of the table of errors. */
export const ERROR_MEANINGS = Object.entries(ERRORS).map(([code, { status, message }]) => ({
  code: code as ErrorCode,
  status,
  message,
  meaning: MEANINGS[code as ErrorCode],
}));

const WAITS: readonly number[] = [402, 429, 503];

export type Samples = { readonly [name: string]: { readonly summary?: string; readonly value: string } };

/** The responses of an operation that refuse, by status. `samples` are real ones, by status. */
export function refusals(
  codes: readonly ErrorCode[],
  access: "key" | "public" | "open",
  samples: { readonly [status: string]: JsonObject },
): { readonly [status: string]: JsonObject } {
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort();
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = codes.filter((code) => ERRORS[code].status === status);
      return [`${status}`, refusal(status, ofStatus, access, samples[status] ?? {})];
    }),
  );
}

function refusal(
  status: number,
  codes: readonly ErrorCode[],
  access: "key" | "public" | "open",
  samples: JsonObject,
): JsonObject {
  const headers: HeaderName[] = [
    "X-Request-Id",
    ...(access === "key" && status !== 401 ? KEY_HEADERS : []),
    ...(WAITS.includes(status) || codes.includes("idempotency_in_progress")
      ? (["Retry-After"] as const)
      : []),
    ...(status === 401 ? (["WWW-Authenticate"] as const) : []),
  ];
  const general = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
  return {
    description: codes.map((code) => `\`${code}\`: ${MEANINGS[code]}`).join("\n\n"),
    headers: headerRefs(headers),
    content: {
      "application/json": { schema: schemaRef(ErrorBody), examples: { ...general, ...samples } },
    },
  };
}

/** One example of each refusal, with the text that is answered where nothing more exact can be said. */
export function refusalExamples(): JsonObject {
  return Object.fromEntries(
    ERROR_MEANINGS.map(({ code, message, meaning }) => [
      code,
      { summary: meaning, value: { error: { code, message } } },
    ]),
  );
}
