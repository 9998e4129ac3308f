import { ApiError } from "../contract/errors.ts";
import type { Handler } from "./boundary.ts";
import { requestPath } from "./request-path.ts";
import type { Route } from "./routing.ts";

/** Answers what no route took: 405 with the Allow header where the path has other methods, else 404. */
export function unroutedHandler(routes: readonly Route[]): Handler {
  const allowOf = methodsByPath(routes);
  return (call) => {
    const allow = allowOf(requestPath(call.request.url).pathname);
    if (allow === undefined) throw new ApiError("not_found");
    call.headers.Allow = allow;
    throw new ApiError("method_not_allowed", `This path takes ${allow}.`);
  };
}

function methodsByPath(routes: readonly Route[]): (pathname: string) => string | undefined {
  const methods = new Map<string, Set<string>>();
  for (const { method, path } of routes) {
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
    // As the router reads it, which takes a path with a slash at its end for the one without.
    const segments = pathname.replace(/(?<=.)\/$/, "").split("/");
    return patterns.find((pattern) => matches(pattern.segments, segments))?.allow;
  };
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((part, position) =>
    part.startsWith(":") ? segments[position] !== "" : part === segments[position],
  );
}
