import type { BunRequest } from "bun";
import { type AnyElysia, Elysia } from "elysia";
import { BODY_UNREAD } from "./bodies/request-body.ts";
import type { Boundary } from "./boundary.ts";
import type { Handler, RouteContext } from "./call.ts";
import { anyOrigin, namedOrigins, preflightHeaders } from "./cross-origin.ts";
import type { Route } from "./routing.ts";
import { allowByPath, unroutedHandler } from "./unrouted.ts";

/** An app that can listen. */
export type MountedApp = AnyElysia;

type Enter = (context: RouteContext) => Promise<Response>;

/**
 * Mounts the routes behind the boundary: each GET as HEAD, too, each path with OPTIONS, and what is answered where
 * none of them fits. Pages of `corsOrigins` may call the routes with a key, pages of every origin the others.
 */
export function mountRoutes(
  routes: readonly Route[],
  boundary: Boundary,
  corsOrigins: readonly string[] = [],
): AnyElysia {
  const served: { [path: string]: { [method: string]: (request: BunRequest) => Promise<Response> } } = {};
  const options = {
    name: "assay",
    normalize: false,
    handler: { standardHostname: false },
    serve: { routes: served },
  } as const;
  const app = new Elysia(options);
  const mount = (method: string, path: string, enter: Enter) => {
    app.route(method, path, enter, BODY_UNREAD);
    // Where it listens the server calls the same function itself: the router would make a context for each call first,
    // of which nothing is used, and wait for the reply a second time.
    const hasParams = path.includes(":");
    const serve = (request: BunRequest) =>
      enter(hasParams ? { request, params: request.params } : { request });
    served[path] = { ...served[path], [method]: serve };
  };
  const originsWithKey = namedOrigins(corsOrigins);
  const crossOriginOf = ({ access, sameOriginOnly = false }: Route) => {
    if (sameOriginOnly) return undefined;
    return access === "key" ? originsWithKey : anyOrigin;
  };
  for (const route of routes) {
    const { method, path, access, readsBearer = false, refusalFields, handler } = route;
    // All of a GET is in its head, which the server keeps; the peer of a public call may be gone a turn later.
    const gathersArrivals = method === "GET" && access === "key";
    const entry = {
      open: access === "open",
      readsBearer,
      gathersArrivals,
      crossOrigin: crossOriginOf(route),
      refusalFields,
    };
    const enter = boundary.route(path, handler, entry);
    mount(method, path, enter);
    // The router's own HEAD counts what a reply without a body has, and says that it has a length of 0.
    if (method === "GET") mount("HEAD", path, enter);
  }
  for (const [path, allow] of allowByPath(routes)) {
    const crossOrigin = routes.filter((route) => route.path === path).map(crossOriginOf)[0];
    mount("OPTIONS", path, boundary.route(path, optionsHandler(allow), { open: true, crossOrigin }));
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
