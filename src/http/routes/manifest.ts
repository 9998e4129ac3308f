import { jsonText } from "../reply.ts";
import type { Route, Routing } from "../routing.ts";

const MANIFEST = JSON.stringify({
  version: 1,
  resources: [],
  instructions: "Calls of this server take a key: see /docs. None is paid by x402.",
});

/** `/.well-known/x402` of a server that is not paid by the call, for programs that look for what is. */
export function emptyManifestRoute(routing: Pick<Routing, "file">): Route {
  return routing.file("/.well-known/x402", () => jsonText(MANIFEST));
}
