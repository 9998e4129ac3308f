import { ApiError } from "../../contract/errors.ts";
import { queryReader } from "../../contract/schema.ts";
import { checkResource } from "../../contract/specification/directory/check.ts";
import type { Directory } from "../../directory/directory.ts";
import type { View } from "../../directory/directory-health.ts";
import type { Check } from "../../judge/check.ts";
import type { CheckText } from "../../judge/kept-judgements.ts";
import type { LoadedOnce } from "../../platform/loaded-once.ts";
import { replyEncoding } from "../compression.ts";
import { withView } from "../directory-view.ts";
import { isCurrent } from "../negotiation.ts";
import type { Reply } from "../reply.ts";
import type { Route, Routing } from "../routing.ts";

export type CheckDependencies = {
  readonly routing: Pick<Routing, "public">;
  readonly directory: Pick<Directory, "view" | "opening">;
  readonly check: LoadedOnce<Check>;
};

/** `GET /v1/check`: the judging check. */
export function checkRoutes({ routing, directory, check }: CheckDependencies): readonly Route[] {
  const readQuery = queryReader(checkResource);

  async function judge(view: View, url: string): Promise<CheckText> {
    const { resource } = readQuery(url);
    const address = URL.parse(resource);
    if (address === null || !/^https?:$/.test(address.protocol) || address.hostname === "") {
      throw new ApiError("invalid_request", "resource must be an http or https address.");
    }
    // No request carries it.
    address.hash = "";
    const loaded = await check.get();
    return loaded.judge(view, url, address);
  }

  return [
    routing.public(checkResource, ({ request }) => {
      const { url } = request;
      const newest = directory.opening() === null ? directory.view() : null;
      const known = newest === null ? null : (check.known()?.recall(newest, url) ?? null);
      if (known !== null) return replyOf(request, known);
      return withView(directory, (view) => judge(view, url).then((made) => replyOf(request, made)));
    }),
  ];
}

function replyOf(request: Request, made: CheckText): Reply {
  const headers = checkHeaders(made);
  if (isCurrent(request, headers.ETag)) return { status: 304, body: null, headers };
  if (replyEncoding(request) !== null) return { status: 200, body: made.text, headers };
  // Most callers are programs that ask for no coding: their reply needs no second look, nor a turn to be waited for.
  return {
    status: 200,
    body: made.text,
    headers: { ...headers, Vary: "Accept-Encoding" },
    isNegotiated: true,
  };
}

/** The headers are made for each call: tens of thousands of them would lie in no cache of the processor. */
export function checkHeaders({ tag }: Pick<CheckText, "tag">) {
  return { ETag: tag, "Cache-Control": "public, max-age=60" } as const;
}
