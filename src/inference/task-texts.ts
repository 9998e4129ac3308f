import { decryptTextInSteps, encryptedTextBytes, encryptTextInSteps } from "../billing/encryption.ts";
import type { Steps } from "../platform/steps.ts";
import type { TaskRow } from "../store/task-port.ts";

/** A task as it was begun: one that has failed may run again, with another call and another answer. */
export type TaskRun = Pick<TaskRow, "taskId" | "createdAt">;

/** The texts of a run: the call it is made of, and the answer or the refusal. */
export type TaskTextKind = "call" | "answer";

/** Encrypts and decrypts the texts of tasks; long ones in steps. */
export type TaskTexts = {
  /** No other run has the same key, with which no two texts may be encrypted. */
  readonly seal: (kind: TaskTextKind, run: TaskRun, text: string) => Promise<string>;
  /** Null where the text was encrypted with another secret. */
  readonly open: (kind: TaskTextKind, run: TaskRun, sealed: string) => Promise<string | null>;
  /** Returns the bytes of a text by its head alone. */
  readonly bytesOf: (kind: TaskTextKind, run: TaskRun, sealed: string) => number;
};

export function createTaskTexts(secret: string, step: Steps): TaskTexts {
  return {
    seal: (kind, run, text) => encryptTextInSteps(text, secret, purposeOf(kind, run), step),
    async open(kind, run, sealed) {
      const text = await decryptTextInSteps(sealed, secret, purposeOf(kind, run), step);
      // What was written before runs had keys of their own has the key of the task.
      return text ?? (await decryptTextInSteps(sealed, secret, `${kind} ${run.taskId}`, step));
    },
    bytesOf: (kind, run, sealed) => encryptedTextBytes(sealed, secret, purposeOf(kind, run)),
  };
}

function purposeOf(kind: TaskTextKind, { taskId, createdAt }: TaskRun): string {
  return `${kind} ${taskId} ${createdAt}`;
}
