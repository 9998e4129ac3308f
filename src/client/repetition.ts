import { type RefusedError, UNREADABLE, UnreachableError } from "./failure.ts";

/** Waits before sending again where the server does not say how long: 250 ms, then twice as long each time. */
export const FIRST_PAUSE_MS = 250;
/** What proxies answer in the place of a server; 520 to 524 are Cloudflare's. */
const PROXY_STATUSES: readonly number[] = [502, 503, 504, 520, 521, 522, 523, 524];

/** How long to wait before the next attempt, or null where there is no use in one. */
export function pauseBefore(
  failure: RefusedError | UnreachableError,
  attempt: number,
  isRepeatable: boolean,
  isOwnRunning: boolean,
): number | null {
  const backoffMs = FIRST_PAUSE_MS * 2 ** attempt;
  if (failure instanceof UnreachableError) return isRepeatable ? backoffMs : null;
  const { status, code, retryAfterSeconds } = failure;
  const isOfProxy = code === UNREADABLE && (PROXY_STATUSES.includes(status) || status < 300);
  if (isOfProxy && !isRepeatable) return null;
  if (isOfProxy && status !== 503) return backoffMs;
  if (status !== 429 && status !== 503 && !isOwnRunning) return null;
  return retryAfterSeconds === null ? backoffMs : retryAfterSeconds * 1000;
}

/** Codes of a connection that never came about, of Node.js and of Bun. */
const UNCONNECTED: readonly string[] = [
  "ECONNREFUSED",
  "ConnectionRefused",
  "FailedToOpenSocket",
  "UND_ERR_CONNECT_TIMEOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
];

/**
 * Whether the server may have begun the call, and go on with it, although it was not the server that answered. What a proxy
 * refuses with a 4xx has not come so far.
 */
export function isReplyLost(failure: RefusedError | UnreachableError): boolean {
  if (failure instanceof UnreachableError) return !isUnsent(failure.cause);
  return failure.code === UNREADABLE && (failure.status < 400 || failure.status >= 500);
}

/** Whether what `fetch` threw says that nothing was sent. Browsers do not say it. */
function isUnsent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && typeof error.code === "string") return UNCONNECTED.includes(error.code);
  // Of a name with several addresses: each was tried.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isUnsent);
  return isUnsent(error.cause);
}
