import type { ApiError, ErrorCode } from "../contract/errors.ts";

/** Refusals that pass by themselves: how long to wait where the place of refusal does not say. */
const RETRY_AFTER_SECONDS: { readonly [code in ErrorCode]?: number } = {
  idempotency_in_progress: 1,
  overloaded: 1,
  shutting_down: 5,
  storage_unavailable: 5,
  directory_unavailable: 10,
  processing: 2,
};

/** A refusal as every route answers it, with the headers that the call has gathered so far. */
export function errorReply(error: ApiError, headers: { readonly [name: string]: string }): Response {
  const all = new Headers(headers);
  all.set("Content-Type", "application/json; charset=utf-8");
  const wait = error.retryAfterSeconds ?? RETRY_AFTER_SECONDS[error.code];
  if (wait !== undefined) all.set("Retry-After", `${Math.max(1, Math.ceil(wait))}`);
  if (error.status === 401) all.set("WWW-Authenticate", 'Bearer realm="assay"');
  const body = JSON.stringify({ error: { code: error.code, message: error.message } });
  return new Response(body, { status: error.status, headers: all });
}
