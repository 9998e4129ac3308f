import type { Job, JobFields } from "../client/contract-types.ts";
import { isDocumentType } from "../contract/words.ts";
import type { Task } from "../tables/task.ts";
import { CliError } from "./failure.ts";

/** Returns the task of a job, which may have been begun with other options. Throws CliError where it is of another kind. */
export function taskOfJob(asked: Task, { job_id: jobId, kind, options }: Job): Task {
  if (kind !== asked.kind) throw new CliError(`The job ${jobId} is one of the kind ${kind}.`);
  switch (kind) {
    case "email":
      return { kind, deep: options.deep, dns: options.dns };
    case "phone":
      return { kind, country: options.country };
    case "identity": {
      const { type } = options;
      return { kind, type: type !== null && isDocumentType(type) ? type : null };
    }
  }
}

/** Returns the fields that create a job of a task. */
export function fieldsOfTask(task: Task): JobFields {
  switch (task.kind) {
    case "email":
      return { kind: "email", deep: task.deep, dns: task.dns };
    case "identity":
      return task.type === null ? { kind: "identity" } : { kind: "identity", type: task.type };
    case "phone":
      return task.country === null ? { kind: "phone" } : { kind: "phone", country: task.country };
  }
}

/** Returns the fields that create a job like another one. Throws CliError where that is of another kind than is asked. */
export function fieldsLike(asked: Task, job: Job): JobFields {
  const { name, options } = job;
  return {
    ...fieldsOfTask(taskOfJob(asked, job)),
    ...(name === null ? {} : { name }),
    ...(options.webhook_url === null ? {} : { webhook_url: options.webhook_url }),
    when_out_of_units: options.when_out_of_units,
  };
}
