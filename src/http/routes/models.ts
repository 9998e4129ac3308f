import { ApiError } from "../../contract/errors.ts";
import { getModel, type ListedModelView, listModels } from "../../contract/specification/inference/models.ts";
import { decodePercent } from "../../platform/percent-escapes.ts";
import { withOpenAiErrors } from "../openai-errors.ts";
import { json } from "../reply.ts";
import { requestPath } from "../request-path.ts";
import type { Route, Routing } from "../routing.ts";

export type ModelRouteDependencies = {
  readonly routing: Pick<Routing, "public">;
  readonly listModels: () => Promise<readonly ListedModelView[]>;
};

const PREFIX = "/v1/models/";

/** `GET /v1/models` and `/v1/models/{id}`. */
export function modelRoutes({ routing, listModels: list }: ModelRouteDependencies): readonly Route[] {
  const routes = [
    routing.public(listModels, async () => json({ object: "list", data: await list() })),
    routing.public(getModel, async ({ request }) => {
      const id = decodePercent(requestPath(request.url).pathname.slice(PREFIX.length));
      const model = (await list()).find((one) => one.id === id);
      if (model === undefined) throw new ApiError("not_found", "There is no model with this id.");
      return json(model);
    }),
  ];
  return routes.map(withOpenAiErrors);
}
