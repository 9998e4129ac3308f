import { type AnyElysia, Elysia } from "elysia";
import { ApiError } from "./errors.ts";
import type { Boundary } from "./http/boundary.ts";

export type AppParts = {
  readonly boundary: Boundary;
  readonly routes: readonly AnyElysia[];
  readonly bodyBytesMax: number;
};

/**
 * Mounts the routes. Whatever the router itself refuses (an unknown path, a wrong method, a request it cannot
 * read) leaves by the same boundary as everything else.
 */
export function createApp({ boundary, routes }: AppParts) {
  const app = new Elysia({ name: "assay", normalize: false });
  for (const route of routes) app.use(route);
  const allowed = methodsByPath(app);
  const unrouted = boundary.route("unrouted", (call) => {
    const { pathname } = new URL(call.request.url);
    const methods = allowed(pathname);
    if (methods === undefined) throw new ApiError("not_found", "There is nothing at this path.");
    call.headers.Allow = methods;
    throw new ApiError("method_not_allowed", `This path takes ${methods}.`);
  });
  const broken = (error: unknown) =>
    boundary.route("unrouted", () => {
      throw error;
    });
  return app.onError(({ code, error, request, server }) => {
    const answer = code === "NOT_FOUND" ? unrouted : broken(error);
    return answer({ request, server });
  });
}

/** Finds the Allow header of a path among the routes, or undefined where no route has the path. */
function methodsByPath(app: AnyElysia): (pathname: string) => string | undefined {
  const methods = new Map<string, Set<string>>();
  for (const { method, path } of app.routes) {
    const known = methods.get(path) ?? new Set();
    known.add(method);
    if (method === "GET") known.add("HEAD");
    methods.set(path, known);
  }
  const patterns = [...methods].map(([path, names]) => ({
    segments: path.split("/"),
    allow: [...names].sort().join(", "),
  }));
  return (pathname) => {
    const segments = pathname.split("/");
    return patterns.find((pattern) => matches(pattern.segments, segments))?.allow;
  };
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((part, position) =>
    part.startsWith(":") ? segments[position] !== "" : part === segments[position],
  );
}
