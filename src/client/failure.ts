/** The server refused. `code` is one of the error codes of the API, or `unreadable_reply` where it is not ours. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  readonly status: number;
  readonly code: string;
  /** The id to report to the operator of the server. */
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(
    message: string,
    facts: { status: number; code: string; requestId: string | null; retryAfterSeconds: number | null },
  ) {
    super(message);
    this.status = facts.status;
    this.code = facts.code;
    this.requestId = facts.requestId;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}

/** No reply came: the server is not there, or the connection broke. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

/** A batch reply ended before its last line. What came before it is right; the rest is missing. */
export class IncompleteReplyError extends Error {
  override readonly name = "IncompleteReplyError";
  readonly received: number;

  constructor(received: number, options?: ErrorOptions) {
    super(`The reply was cut off; results that came before: ${received}.`, options);
    this.received = received;
  }
}
