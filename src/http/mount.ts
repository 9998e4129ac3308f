import { type AnyElysia, Elysia } from "elysia";
import type { Boundary } from "./boundary.ts";
import { BODY_UNREAD } from "./request-body.ts";
import type { Route } from "./routing.ts";
import { unroutedHandler } from "./unrouted.ts";

/** Mounts the routes behind the boundary, and what is answered where none of them fits. */
export function mountRoutes(routes: readonly Route[], boundary: Boundary): AnyElysia {
  const app = new Elysia({ name: "assay", normalize: false, handler: { standardHostname: false } });
  for (const { method, path, access, readsBearer = false, handler } of routes) {
    const enter = boundary.route(path, handler, { open: access === "open", readsBearer });
    app.route(method, path, enter, BODY_UNREAD);
  }
  const unrouted = boundary.route("unrouted", unroutedHandler(routes));
  return app.onError(({ code, error, request }) => {
    const rethrow = () => {
      throw error;
    };
    const answer = code === "NOT_FOUND" ? unrouted : boundary.route("unrouted", rethrow);
    return answer({ request });
  });
}
