import { decryptText, encryptText } from "../billing/encryption.ts";
import type { TaskRow } from "../store/task-port.ts";

/** A task as it was begun: one that has failed may run again, with another call and another answer. */
export type TaskRun = Pick<TaskRow, "taskId" | "createdAt">;

/** The texts of a run: the call it is made of, and the answer or the refusal. */
export type TaskTextKind = "call" | "answer";

/** Encrypts a text of a run. No other run has the same key, with which no two texts may be encrypted. */
export function sealTaskText(kind: TaskTextKind, run: TaskRun, text: string, secret: string): string {
  return encryptText(text, secret, purposeOf(kind, run));
}

/** Decrypts a text of `sealTaskText`; null where it was encrypted with another secret. */
export function openTaskText(
  kind: TaskTextKind,
  run: TaskRun,
  sealed: string,
  secret: string,
): string | null {
  // What was written before runs had keys of their own has the key of the task.
  return (
    decryptText(sealed, secret, purposeOf(kind, run)) ?? decryptText(sealed, secret, `${kind} ${run.taskId}`)
  );
}

function purposeOf(kind: TaskTextKind, { taskId, createdAt }: TaskRun): string {
  return `${kind} ${taskId} ${createdAt}`;
}
