import { ApiError } from "../../contract/errors.ts";
import { getTask } from "../../contract/specification/inference/tasks.ts";
import type { Tasks } from "../../inference/tasks.ts";
import { withOpenAiErrors } from "../openai-errors.ts";
import { json } from "../reply.ts";
import type { Route, Routing } from "../routing.ts";

export type TaskRouteDependencies = {
  readonly routing: Pick<Routing, "public">;
  readonly tasks: Pick<Tasks, "find">;
};

/** `GET /v1/tasks/{id}`. */
export function taskRoutes({ routing, tasks }: TaskRouteDependencies): readonly Route[] {
  const route = routing.public(getTask, async ({ params }) => {
    const task = await tasks.find(params.task_id ?? "");
    if (task === null) {
      throw new ApiError("not_found", "There is no task with this id, or its answer is no longer kept.");
    }
    return { ...json(task), headers: { "Cache-Control": "no-store" } };
  });
  return [withOpenAiErrors(route)];
}
