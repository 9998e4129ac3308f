import type { Clock } from "../../platform/clock.ts";

/** The upstream cannot be reached, refuses, or passes a limit. The message is for the operator. */
export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
  readonly retryAfterMs: number | null;
  /** The message without paths, hosts and addresses, for everybody. */
  readonly shown: string;

  constructor(message: string, options?: { retryAfterMs?: number | null; shown?: string; cause?: unknown }) {
    super(message, { cause: options?.cause });
    this.shown = options?.shown ?? message;
    this.retryAfterMs = options?.retryAfterMs ?? null;
  }
}

export type UpstreamLimits = {
  /** Until the head of the reply has come. */
  readonly connectTimeoutMs: number;
  /** Between two parts of the body. */
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

export type Deadline = {
  readonly signal: AbortSignal;
  readonly abort: () => void;
  readonly connected: <T>(promise: Promise<T>) => Promise<T>;
  readonly nextPart: <T>(promise: Promise<T>) => Promise<T>;
};

/** One request's time: until the head, between parts, in all. Passing it ends the connection. */
export function createDeadline(limits: UpstreamLimits, clock: Clock): Deadline {
  const controller = new AbortController();
  const end = clock.monotonic() + limits.totalTimeoutMs;
  const within = async <T>(promise: Promise<T>, stepMs: number, what: string): Promise<T> => {
    const leftMs = Math.max(0, end - clock.monotonic());
    const error =
      leftMs < stepMs
        ? new UpstreamError(`not done within ${limits.totalTimeoutMs} ms`)
        : new UpstreamError(`${what} within ${stepMs} ms`);
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => {
        reject(error);
        controller.abort(error);
      },
      Math.min(stepMs, leftMs),
    );
    try {
      return await Promise.race([promise, timeout]);
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    connected: (promise) => within(promise, limits.connectTimeoutMs, "no answer"),
    nextPart: (promise) => within(promise, limits.idleTimeoutMs, "nothing more came"),
  };
}
