import type { ApiError } from "../contract/errors.ts";

/** Returns what a route's refusals have beside `code` and `message`. */
export type RefusalFields = (error: ApiError) => object;

/** Returns the reply of a refusal, with the headers that the call has gathered. */
export function errorReply(
  error: ApiError,
  headers: { readonly [name: string]: string },
  fieldsOf?: RefusalFields,
): Response {
  const all = new Headers(headers);
  all.set("Content-Type", "application/json; charset=utf-8");
  const wait = error.retryAfterSeconds;
  if (wait !== undefined) all.set("Retry-After", `${Math.max(1, Math.ceil(wait))}`);
  if (error.status === 401) all.set("WWW-Authenticate", 'Bearer realm="assay"');
  const body = JSON.stringify({ error: { code: error.code, message: error.message, ...fieldsOf?.(error) } });
  return new Response(body, { status: error.status, headers: all });
}
