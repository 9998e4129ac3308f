import { parseObject } from "../platform/json-value.ts";
import type { TaskRow } from "../store/task-port.ts";

/** Returns a task on the wire, as JSON. `body` is its answer or its refusal: an answer, which may be long, stays as it is. */
export function taskJson(row: TaskRow, body: string | null): string {
  const fields = JSON.stringify({
    task_id: row.taskId,
    status: row.state,
    created_at: new Date(row.createdAt).toISOString(),
    ended_at: row.endedAt === null ? null : new Date(row.endedAt).toISOString(),
    expires_at: new Date(row.expiresAt).toISOString(),
  });
  const answer = row.state === "done" ? body : null;
  const error = row.state === "failed" && body !== null ? parseObject(body)?.error : null;
  return `${fields.slice(0, -1)},"answer":${answer ?? "null"},"error":${JSON.stringify(error ?? null)}}`;
}
