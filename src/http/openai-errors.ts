import { ApiError } from "../contract/errors.ts";
import { ParamError } from "../inference/param-error.ts";
import type { Handler } from "./call.ts";
import type { Reply } from "./reply.ts";

/** Adds `type` and `param` to refusals, as OpenAI's clients expect. */
export function withOpenAiErrors(handler: Handler): Handler {
  return async (call) => {
    try {
      return completed(await handler(call));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return refusalReply(error);
    }
  };
}

function refusalReply(error: ApiError): Reply {
  const { code, message, status, retryAfterSeconds } = error;
  const param = error instanceof ParamError ? error.param : null;
  const wait = retryAfterSeconds === undefined ? {} : { "Retry-After": `${Math.ceil(retryAfterSeconds)}` };
  return {
    status,
    headers: { ...wait, "Cache-Control": "no-store" },
    body: JSON.stringify({ error: { code, message, type: typeOf(status), param } }),
  };
}

/** Adds the type to refusals that payments have written. */
function completed(reply: Reply): Reply {
  if (reply.status < 400 || typeof reply.body !== "string") return reply;
  const body = JSON.parse(reply.body) as { readonly error: object };
  const error = { type: typeOf(reply.status), param: null, ...body.error };
  return { ...reply, body: JSON.stringify({ ...body, error }) };
}

function typeOf(status: number): string {
  if (status === 402) return "payment_error";
  if (status === 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "api_error";
}
