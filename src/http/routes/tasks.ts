import { ApiError } from "../../contract/errors.ts";
import { getTask } from "../../contract/specification/inference/tasks.ts";
import type { Tasks } from "../../inference/tasks.ts";
import { clientAddressKey } from "../client-address-key.ts";
import { withOpenAiErrors } from "../openai-errors.ts";
import { jsonText } from "../reply.ts";
import type { Route, Routing } from "../routing.ts";

export type TaskRouteDependencies = {
  readonly routing: Pick<Routing, "public">;
  readonly tasks: Pick<Tasks, "find">;
};

/** `GET /v1/tasks/{id}`. */
export function taskRoutes({ routing, tasks }: TaskRouteDependencies): readonly Route[] {
  const route = routing.public(getTask, async (call) => {
    const task = await tasks.find(call.params.task_id ?? "", clientAddressKey(call.clientAddress()));
    if (task === null) {
      throw new ApiError("not_found", "There is no task with this id, or its answer is no longer kept.");
    }
    return { ...jsonText(task), headers: { "Cache-Control": "no-store" } };
  });
  return [withOpenAiErrors(route)];
}
