/**
 * Every refusal a caller can meet: code → HTTP status and the text used where the place of refusal has
 * nothing more exact to say.
 */
export const ERRORS = {
  invalid_request: { status: 400, message: "The request is not valid." },
  invalid_json: { status: 400, message: "The body is not valid JSON." },
  unusable_email: { status: 400, message: "email must be an address that can receive mail." },
  batch_too_large: { status: 400, message: "The batch has more items than the plan allows." },
  missing_key: { status: 401, message: "Send your key in the header Authorization: Bearer <key>." },
  bad_key: { status: 401, message: "The key is not valid." },
  quota_exceeded: { status: 402, message: "The units of this period are used up." },
  payment_required: { status: 402, message: "This call is paid with x402." },
  payment_invalid: { status: 402, message: "The payment was not taken." },
  not_found: { status: 404, message: "There is nothing at this path." },
  method_not_allowed: { status: 405, message: "This path does not take that method." },
  account_exists: { status: 409, message: "An account with this mailbox exists." },
  idempotency_in_progress: { status: 409, message: "A call with this Idempotency-Key is still running." },
  payment_in_use: { status: 409, message: "A call with this payment is still running." },
  payload_too_large: { status: 413, message: "The body is too large." },
  unsupported_media_type: { status: 415, message: "Send the body as application/json." },
  idempotency_mismatch: {
    status: 422,
    message: "This Idempotency-Key was used with another path, query, header or body.",
  },
  rate_limited: { status: 429, message: "Too many requests." },
  internal_error: { status: 500, message: "Something went wrong on our side." },
  upstream_failed: { status: 502, message: "A server that this call depends on does not answer." },
  overloaded: { status: 503, message: "The server is at its limit; try again shortly." },
  shutting_down: { status: 503, message: "The server is shutting down." },
  storage_unavailable: { status: 503, message: "The database cannot be written at the moment." },
  directory_unavailable: { status: 503, message: "The directory has no snapshot yet." },
  settlement_unknown: { status: 503, message: "It is not yet known whether the payment was settled." },
  processing: { status: 504, message: "The result is not ready yet; ask again." },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** A refusal: answered with its code, status and message. Anything else that is thrown is a bug. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly status: number;
  /** Whole seconds for the Retry-After header, where the place of refusal knows them. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message?: string, options?: { retryAfterSeconds?: number; cause?: unknown }) {
    super(
      message ?? ERRORS[code].message,
      options?.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.status = ERRORS[code].status;
    this.retryAfterSeconds = options?.retryAfterSeconds;
  }
}
