/** One row of the table of refusals. */
type Refusal = {
  readonly status: number;
  /** The text where the place of refusal has nothing more exact to say. */
  readonly message: string;
  /** When a caller meets it: for the documentation, where the code is the anchor. */
  readonly meaning: string;
  /** Of a refusal that passes by itself, where the place of refusal does not know better. */
  readonly retryAfterSeconds?: number;
};

/** Every refusal that a caller can meet, by its code. */
export const ERRORS = {
  invalid_request: {
    status: 400,
    message: "The request is not valid.",
    meaning: "A parameter, a field or a header is missing or not what it must be; the message names it.",
  },
  invalid_json: {
    status: 400,
    message: "The body is not valid JSON.",
    meaning: "The body is not valid JSON.",
  },
  unusable_email: {
    status: 400,
    message: "email must be an address that can receive mail.",
    meaning: "The address cannot receive mail: bad syntax, a throwaway domain, or one that takes no mail.",
  },
  batch_too_large: {
    status: 400,
    message: "The batch has more items than the plan allows.",
    meaning: "The batch has more items than the plan's `max_batch_size`.",
  },
  missing_key: {
    status: 401,
    message: "Send your key in the header Authorization: Bearer <key>.",
    meaning: "There is no `Authorization: Bearer <key>`.",
  },
  bad_key: {
    status: 401,
    message: "The key is not valid.",
    meaning: "The key is mistyped, unknown, or has been rotated away.",
  },
  forbidden: {
    status: 403,
    message: "The scopes of this key do not allow the call.",
    meaning: "The scopes of the key do not allow the call; the message names the one that would.",
  },
  quota_exceeded: {
    status: 402,
    message: "The units of this period are used up.",
    meaning:
      "The plan's included units, or what the spend limit pays for, would be passed. Nothing was done.",
  },
  payment_required: {
    status: 402,
    message: "This call is paid with x402.",
    meaning: "Paid services: pay with x402, as `PAYMENT-REQUIRED` and the body say.",
  },
  payment_invalid: {
    status: 402,
    message: "The payment was not taken.",
    meaning: "Paid services: the payment does not fit, or it was not settled. Nothing was charged.",
  },
  not_found: {
    status: 404,
    message: "There is nothing at this path: /docs lists what there is.",
    meaning: "There is nothing at this path, or no such listing.",
  },
  method_not_allowed: {
    status: 405,
    message: "This path does not take that method.",
    meaning: "The path takes other methods: those in `Allow`.",
  },
  account_exists: {
    status: 409,
    message: "An account with this mailbox exists.",
    meaning: "The mailbox has an account, however it is spelled.",
  },
  idempotency_in_progress: {
    status: 409,
    message: "A call with this Idempotency-Key is still running.",
    meaning: "A call with this Idempotency-Key is still running.",
    retryAfterSeconds: 1,
  },
  payment_in_use: {
    status: 409,
    message: "A call with this payment is still running.",
    meaning: "Paid services: a call with this payment is still running.",
  },
  job_not_ready: {
    status: 409,
    message: "The job is not ready for this.",
    meaning: "The job is still being received, or takes no more parts; the message says which.",
  },
  job_finished: {
    status: 409,
    message: "The job has ended.",
    meaning: "The job has ended: it cannot be paused, resumed or cancelled any more.",
  },
  gone: {
    status: 410,
    message: "The data of this job has been erased.",
    meaning: "The data of the job was erased at the end of its retention.",
  },
  payload_too_large: {
    status: 413,
    message: "The body is too large.",
    meaning: "The body is larger than this route takes.",
  },
  unsupported_media_type: {
    status: 415,
    message: "Send the body as application/json.",
    meaning: "The body's Content-Type or Content-Encoding is not one that this route takes.",
  },
  idempotency_mismatch: {
    status: 422,
    message: "This Idempotency-Key was used with another path, query, header or body.",
    meaning:
      "This Idempotency-Key was used with another API key, path, query, `Content-Type`, `Accept` or body; the message says which.",
  },
  too_many_jobs: {
    status: 429,
    message: "The plan allows no more jobs at once.",
    meaning: "As many jobs of the account are unfinished as the plan allows.",
    retryAfterSeconds: 10,
  },
  rate_limited: {
    status: 429,
    message: "Too many requests.",
    meaning: "More calls than the plan, or for public routes the address, may make. Wait for `Retry-After`.",
  },
  internal_error: {
    status: 500,
    message: "Something went wrong on our side.",
    meaning: "A fault of ours. It is logged under the request id, and nothing is charged.",
  },
  upstream_failed: {
    status: 502,
    message: "A server that this call depends on does not answer.",
    meaning: "Paid services: a server that the call depends on does not answer. Nothing was charged.",
  },
  overloaded: {
    status: 503,
    message: "The server is at its limit; try again shortly.",
    meaning: "The server is at one of its limits. Nothing was done; try again after `Retry-After`.",
    retryAfterSeconds: 1,
  },
  shutting_down: {
    status: 503,
    message: "The server is shutting down.",
    meaning: "The server is about to stop. Try again after `Retry-After`.",
    retryAfterSeconds: 5,
  },
  storage_unavailable: {
    status: 503,
    message: "The database cannot be written at the moment.",
    meaning: "The database cannot be written, so nothing can be charged or answered.",
    retryAfterSeconds: 5,
  },
  directory_unavailable: {
    status: 503,
    message: "The directory has no snapshot yet.",
    meaning: "The directory has no snapshot yet.",
    retryAfterSeconds: 10,
  },
  settlement_unknown: {
    status: 503,
    message: "It is not yet known whether the payment was settled.",
    meaning:
      "Paid services: the payment may have been settled. Send the same payment again after `Retry-After`.",
  },
  processing: {
    status: 504,
    message: "The result is not ready yet; ask again.",
    meaning: "Paid services: the work goes on; ask again with the same payment. Nothing was charged.",
    retryAfterSeconds: 2,
  },
} as const satisfies { readonly [code: string]: Refusal };

export type ErrorCode = keyof typeof ERRORS;

/** A refusal: answered with its code, status and message. Anything else that is thrown is a bug. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly status: number;
  /** Seconds for the Retry-After header; undefined where waiting is of no use. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message?: string, options?: { retryAfterSeconds?: number; cause?: unknown }) {
    super(
      message ?? ERRORS[code].message,
      options?.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.status = ERRORS[code].status;
    const row: Refusal = ERRORS[code];
    this.retryAfterSeconds = options?.retryAfterSeconds ?? row.retryAfterSeconds;
  }
}
