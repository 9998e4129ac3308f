import type { Operation } from "../contract/specification/operation.ts";
import { after } from "../platform/answer.ts";
import { loadedOnce } from "../platform/loaded-once.ts";
import type { Route } from "./routing.ts";

/**
 * Returns the routes of some operations whose code is read with the first call of one of them. `load` returns the same
 * routes, in any order.
 */
export function onDemand(
  operations: readonly Operation[],
  load: () => Promise<readonly Route[]>,
): readonly Route[] {
  const routes = loadedOnce(load);
  return operations.map((operation): Route => {
    const { method, path, access } = operation;
    let handler: Route["handler"] | undefined;
    return {
      method,
      path,
      access,
      readsBearer: access === "key",
      operation,
      handler: (call) => {
        if (handler !== undefined) return handler(call);
        return after(routes.get(), (found) => {
          handler = found.find((route) => route.operation === operation)?.handler;
          if (handler === undefined) throw new Error(`${operation.operationId} was not loaded`);
          return handler(call);
        });
      },
    };
  });
}
