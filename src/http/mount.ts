import { type AnyElysia, Elysia } from "elysia";
import type { Boundary, Handler } from "./boundary.ts";
import { anyOrigin, namedOrigins, preflightHeaders } from "./cross-origin.ts";
import { BODY_UNREAD } from "./request-body.ts";
import type { Route } from "./routing.ts";
import { allowByPath, unroutedHandler } from "./unrouted.ts";

/** An app that can listen. */
export type MountedApp = AnyElysia;

/**
 * Mounts the routes behind the boundary: each GET as HEAD, too, each path with OPTIONS, and what is answered where
 * none of them fits. Pages of `corsOrigins` may call the routes with a key, pages of every origin the others.
 */
export function mountRoutes(
  routes: readonly Route[],
  boundary: Boundary,
  corsOrigins: readonly string[] = [],
): AnyElysia {
  const app = new Elysia({ name: "assay", normalize: false, handler: { standardHostname: false } });
  const originsWithKey = namedOrigins(corsOrigins);
  const crossOriginOf = ({ access, sameOriginOnly = false }: Route) => {
    if (sameOriginOnly) return undefined;
    return access === "key" ? originsWithKey : anyOrigin;
  };
  for (const route of routes) {
    const { method, path, access, readsBearer = false, handler } = route;
    const options = { open: access === "open", readsBearer, crossOrigin: crossOriginOf(route) };
    const enter = boundary.route(path, handler, options);
    app.route(method, path, enter, BODY_UNREAD);
    // The router's own HEAD counts what a reply without a body has, and says that it has a length of 0.
    if (method === "GET") app.route("HEAD", path, enter, BODY_UNREAD);
  }
  for (const [path, allow] of allowByPath(routes)) {
    const crossOrigin = routes.filter((route) => route.path === path).map(crossOriginOf)[0];
    const enter = boundary.route(path, optionsHandler(allow), { open: true, crossOrigin });
    app.route("OPTIONS", path, enter, BODY_UNREAD);
  }
  const unrouted = boundary.route("unrouted", unroutedHandler(routes), { crossOrigin: anyOrigin });
  return app.onError(({ code, error, request }) => {
    const rethrow = () => {
      throw error;
    };
    const answer = code === "NOT_FOUND" ? unrouted : boundary.route("unrouted", rethrow);
    return answer({ request });
  });
}

function optionsHandler(allow: string): Handler {
  return ({ request, headers }) => {
    const isAllowed = headers["Access-Control-Allow-Origin"] !== undefined;
    const isPreflight = request.headers.has("access-control-request-method");
    const more = isAllowed && isPreflight ? preflightHeaders(request, allow) : {};
    return { status: 204, body: null, headers: { Allow: allow, ...more } };
  };
}
