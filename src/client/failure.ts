/** The code of a reply that is not one of this API. */
export const UNREADABLE = "unreadable_reply";

/** The server refused. `code` is one of the error codes of the API, or `unreadable_reply` where it is not ours. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  readonly status: number;
  readonly code: string;
  /** The id to report to the operator of the server. */
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  /** The key of the call, under which it can be sent again. */
  readonly idempotencyKey: string | null;
  /** The job that a `createJob` left behind, to go on with, look at or delete. */
  jobId: string | null = null;
  /** Whether an attempt of the call may have reached the server, and its reply did not come back: it may have been done. */
  isReplyLost = false;

  constructor(
    message: string,
    facts: {
      status: number;
      code: string;
      requestId: string | null;
      retryAfterSeconds: number | null;
      idempotencyKey?: string | null;
    },
  ) {
    super(message);
    this.status = facts.status;
    this.code = facts.code;
    this.requestId = facts.requestId;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.idempotencyKey = facts.idempotencyKey ?? null;
  }
}

type LostReply = ErrorOptions & { readonly idempotencyKey?: string | null };

/** No reply came: the server is not there, or the connection broke. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
  /** The key of the call: sent again under it, it is charged once and its reply is replayed. */
  readonly idempotencyKey: string | null;
  /** The job that a `createJob` left behind, to go on with, look at or delete. */
  jobId: string | null = null;
  /** Whether an attempt of the call may have reached the server, and its reply did not come back: it may have been done. */
  isReplyLost = false;

  constructor(message: string, { idempotencyKey = null, ...options }: LostReply = {}) {
    super(message, options);
    this.idempotencyKey = idempotencyKey;
  }
}

/** A batch reply ended before its last line. What came before it is right; the rest is missing. */
export class IncompleteReplyError extends Error {
  override readonly name = "IncompleteReplyError";
  readonly received: number;
  /** The key of the call: sent again under it, it is charged once and its whole reply is replayed. */
  readonly idempotencyKey: string | null;

  constructor(received: number, { idempotencyKey = null, ...options }: LostReply = {}) {
    super(`The reply was cut off; results that came before: ${received}.`, options);
    this.received = received;
    this.idempotencyKey = idempotencyKey;
  }
}
