import type { ApiError } from "../contract/errors.ts";
import { ParamError } from "../inference/param-error.ts";
import type { Reply } from "./reply.ts";
import type { Route } from "./routing.ts";

/** Adds `type` and `param` to all refusals of a route, as OpenAI's clients expect. */
export function withOpenAiErrors(route: Route): Route {
  return {
    ...route,
    refusalFields,
    handler: async (call) => {
      try {
        return completed(await route.handler(call));
      } catch (error) {
        call.headers["Cache-Control"] = "no-store";
        throw error;
      }
    },
  };
}

function refusalFields(error: ApiError): object {
  return { type: typeOf(error.status), param: error instanceof ParamError ? error.param : null };
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
