import { ApiError } from "../../contract/errors.ts";
import { queryReader } from "../../contract/schema.ts";
import { checkResource } from "../../contract/specification/check.ts";
import type { Directory } from "../../directory/directory.ts";
import type { CheckResource } from "../../judge/check.ts";
import { isCurrent } from "../negotiation.ts";
import { jsonText } from "../reply.ts";
import type { Route, Routing } from "../routing.ts";

export type CheckDependencies = {
  readonly routing: Pick<Routing, "public">;
  readonly directory: Pick<Directory, "view">;
  /** Loads the check, which nobody may ever ask for. */
  readonly loadCheck: () => Promise<CheckResource>;
};

/** `GET /v1/check`: the judging check. */
export function checkRoutes({ routing, directory, loadCheck }: CheckDependencies): readonly Route[] {
  const readQuery = queryReader(checkResource);
  let check: CheckResource | null = null;
  return [
    routing.public(checkResource, async ({ request }) => {
      const { resource } = readQuery(request.url);
      const url = URL.parse(resource);
      if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === "") {
        throw new ApiError("invalid_request", "resource must be an http or https address.");
      }
      const view = directory.view();
      if (view === null) throw new ApiError("directory_unavailable");
      check ??= await loadCheck();
      const { text, etag } = check(view, url);
      const headers = { ETag: etag, "Cache-Control": "public, max-age=60" };
      if (isCurrent(request, etag)) return { status: 304, body: null, headers };
      return { ...jsonText(text), headers };
    }),
  ];
}
