import { Type } from "@sinclair/typebox";
import { jsonReply, operation } from "../operation.ts";
import { moment, nullable, text, word } from "../reply-schema.ts";
import { ChatCompletion } from "./chat-schema.ts";

const OPEN = { additionalProperties: true };

export const AcceptedTask = Type.Object(
  { task_id: text("Names the task; keep it to yourself."), status_url: text("Where its answer will be.") },
  { $id: "AcceptedTask" },
);

export const Task = Type.Object(
  {
    task_id: Type.String(),
    status: word(["running", "done", "failed"], "`failed`: nothing was charged."),
    created_at: moment("When it was accepted."),
    ended_at: nullable(moment("When it ended.")),
    expires_at: moment("Until when it is kept."),
    answer: nullable(ChatCompletion, "The answer, with its receipt."),
    error: nullable(Type.Object({ code: Type.String(), message: Type.String() }, OPEN), "Why there is none."),
  },
  { $id: "Task" },
);

export const getTask = operation({
  operationId: "getTask",
  method: "GET",
  path: "/v1/tasks/:task_id",
  parameters: { task_id: "The `task_id` of the reply to `POST /task-request`." },
  tag: "Tasks",
  summary: "What became of a task",
  description: "Free. Who knows the id may read the answer.",
  access: "public",
  replies: { 200: jsonReply("The task.", Task, ["Cache-Control"]) },
  refusals: ["not_found"],
});
