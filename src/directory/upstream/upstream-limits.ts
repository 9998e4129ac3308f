/** The upstream cannot be reached, refuses, or exceeds a limit. The message is for the operator. */
export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
  readonly retryAfterMs: number | null;
  /** The message without paths, hosts and addresses, which /health shows. */
  readonly shown: string;

  constructor(message: string, options?: { retryAfterMs?: number | null; shown?: string; cause?: unknown }) {
    super(message, { cause: options?.cause });
    this.shown = options?.shown ?? message;
    this.retryAfterMs = options?.retryAfterMs ?? null;
  }
}

export type UpstreamLimits = {
  /** For each of the look-up, the connection, and the head of the reply. */
  readonly connectTimeoutMs: number;
  /** Between two chunks of the body. */
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
  readonly rawBytesMax: number;
  readonly inflatedBytesMax: number;
};

export const UPSTREAM_LIMITS: UpstreamLimits = {
  connectTimeoutMs: 10_000,
  idleTimeoutMs: 15_000,
  totalTimeoutMs: 120_000,
  rawBytesMax: 268_435_456,
  inflatedBytesMax: 268_435_456,
};
