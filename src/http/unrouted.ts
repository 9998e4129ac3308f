import { ApiError } from "../contract/errors.ts";
import type { Handler } from "./call.ts";
import { requestPath } from "./request-path.ts";
import type { Route } from "./routing.ts";

/** Answers what no route took: 405 with the Allow header where the path has other methods, 400 with a fragment, else 404. */
export function unroutedHandler(routes: readonly Route[]): Handler {
  const allowOf = allowByPathname(routes);
  return (call) => {
    const allow = allowOf(requestPath(call.request.url).pathname);
    if (allow === undefined) throw new ApiError("not_found");
    // The router takes `#` for a part of the path.
    if (call.request.url.includes("#")) {
      throw new ApiError("invalid_request", "The address of a call has no fragment: # is written as %23.");
    }
    call.headers.Allow = allow;
    throw new ApiError("method_not_allowed", `This path takes ${allow}.`);
  };
}

/** Returns the value of Allow of each path. */
export function allowByPath(routes: readonly Route[]): ReadonlyMap<string, string> {
  const methods = new Map<string, Set<string>>();
  for (const { method, path } of routes) {
    const known = methods.get(path) ?? new Set(["OPTIONS"]);
    known.add(method);
    if (method === "GET") known.add("HEAD");
    methods.set(path, known);
  }
  return new Map([...methods].map(([path, names]) => [path, [...names].sort().join(", ")]));
}

function allowByPathname(routes: readonly Route[]): (pathname: string) => string | undefined {
  const patterns = [...allowByPath(routes)].map(([path, allow]) => ({ segments: path.split("/"), allow }));
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
