import type { Account } from "../accounts/key-ring.ts";
import type { Rate } from "../billing/rate-limiter.ts";
import { ApiError } from "../contract/errors.ts";
import type { Access, Operation } from "../contract/specification/operation.ts";
import type { Guard } from "./auth.ts";
import type { Call, Handler } from "./call.ts";
import type { RefusalFields } from "./envelope.ts";
import type { Reply } from "./reply.ts";

/** One method of one path, and what answers it. */
export type Route = {
  readonly method: string;
  readonly path: string;
  readonly access: Access;
  /** The bearer token of the call is read: on all routes with a key, and on no others. */
  readonly readsBearer?: boolean;
  /** Pages of no other origin may read the replies. */
  readonly sameOriginOnly?: boolean;
  readonly handler: Handler;
  readonly refusalFields?: RefusalFields;
  /** What the specification says of it; null for the files of the documentation page. */
  readonly operation: Operation | null;
};

export type KeyedHandler = (call: Call, account: Account) => Reply | Promise<Reply>;

/** Calls of one client address are counted apart for each purpose. */
export type AddressLimit = { readonly purpose: string; readonly rate: Rate };

/** Registers routes. Path, method, schemas and specification are those of the operation. */
export type Routing = {
  /** For operations with `access: "open"`. */
  readonly open: (
    operation: Operation,
    handler: Handler,
    options?: Pick<Route, "readsBearer" | "sameOriginOnly">,
  ) => Route;
  /** For operations with `access: "public"`: 429 above the limit of the client address. */
  readonly public: (operation: Operation, handler: Handler, limit?: AddressLimit) => Route;
  /** A public path that is no part of the API. */
  readonly file: (path: string, handler: Handler) => Route;
  /** For operations with `access: "key"`: 401, 403 and 429 before the handler. */
  readonly keyed: (operation: Operation, handler: KeyedHandler) => Route;
  /** As `keyed`, for a handler that calls the guard itself. */
  readonly guarded: (operation: Operation, handler: Handler) => Route;
};

export type RoutingDependencies = {
  readonly guard: Pick<Guard, "admit" | "admitPublic">;
  readonly publicRequestsPerSecond: number;
};

export function createRouting({ guard, publicRequestsPerSecond }: RoutingDependencies): Routing {
  const everyone: AddressLimit = {
    purpose: "public",
    rate: { requestsPerSecond: publicRequestsPerSecond, burst: publicRequestsPerSecond * 2 },
  };
  const limited =
    (handler: Handler, { purpose, rate }: AddressLimit = everyone): Handler =>
    (call) => {
      guard.admitPublic(call, purpose, rate);
      return handler(call);
    };
  return {
    open: (operation, handler, options) => ({ ...routeOf(operation, "open", handler), ...options }),
    public: (operation, handler, limit) => routeOf(operation, "public", limited(handler, limit)),
    file: (path, handler) => ({
      method: "GET",
      path,
      access: "public",
      handler: limited(handler),
      operation: null,
    }),
    keyed: (operation, handle) => {
      const { scopes = ["verify"] } = operation;
      const handler: KeyedHandler = operation.path.includes(":")
        ? (call, account) => {
            requireReadableIds(call);
            return handle(call, account);
          }
        : handle;
      return routeOf(operation, "key", (call) => {
        const admitted = guard.admit(call, scopes);
        // What `after` does, without a function that is made for each call.
        if (admitted instanceof Promise) return admitted.then((account) => handler(call, account));
        return handler(call, admitted);
      });
    },
    guarded: (operation, handler) => routeOf(operation, "key", handler),
  };
}

/** Throws `not_found` for an id with a NUL: none has one, and PostgreSQL takes no text that does. */
export function requireReadableIds({ params }: Call): void {
  for (const id of Object.values(params)) {
    if (id.includes("\0")) throw new ApiError("not_found", "Nothing has such an id.");
  }
}

function routeOf(operation: Operation, access: Access, handler: Handler): Route {
  const { method, path, operationId } = operation;
  if (operation.access !== access) {
    throw new Error(`${operationId} is registered as ${access} and described as ${operation.access}`);
  }
  return { method, path, access, readsBearer: access === "key", handler, operation };
}
