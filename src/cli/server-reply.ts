import type { Job } from "../client/contract-types.ts";
import { IncompleteReplyError, RefusedError, UNREADABLE, UnreachableError } from "../client/failure.ts";
import { isObject } from "../platform/json-value.ts";
import { KINDS, type Result, statusOf, type Task } from "../tables/task.ts";
import { CliError, EXIT } from "./failure.ts";

/** A batch shows the beginning of a longer item. */
const COMPARED_CHARS_MAX = 10_000;

/** A card number shows its first six digits and its last four. */
const MASKED_CARD = /^(\d{6})\*+(\d{4})$/;

/** Returns whether a server answered with the result of an item. */
export function isResultOf({ kind }: Task, item: string, result: unknown): result is Result {
  if (!isObject(result)) return false;
  return item.length > COMPARED_CHARS_MAX || isEchoOf(item, result[KINDS[kind].field]);
}

/** A result shows its item as given; what may be a card number is masked, or has stars for all digits. */
function isEchoOf(item: string, shown: unknown): boolean {
  if (shown === item) return true;
  if (typeof shown !== "string" || !shown.includes("*")) return false;
  if (shown === item.replace(/\p{N}+/gu, (run) => "*".repeat(run.length))) return true;
  const [, first = "", last = ""] = MASKED_CARD.exec(shown) ?? [];
  // Full-width digits are masked as plain ones.
  const digits = item.normalize("NFKC").replace(/[^0-9]/g, "");
  return first !== "" && digits.length === shown.length && digits.startsWith(first) && digits.endsWith(last);
}

/** Returns whether a result says what it can be counted and filtered by. */
export function hasKnownStatus(task: Task, result: Result): boolean {
  if (task.kind !== "email") return typeof result.valid === "boolean";
  return KINDS.email.statuses.includes(statusOf(task, result));
}

/** Returns whether a value is a number of units. */
export function isUnitCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Returns the job that a server answered with. Throws CliError for anything else. */
export function jobFrom(url: string, job: Job): Job {
  const reply: unknown = job;
  const isJob = isObject(reply) && typeof reply.job_id === "string" && isObject(reply.counts);
  if (isJob && isUnitCount(reply.units_charged)) return job;
  throw foreignReply(url, EXIT.stopped);
}

/** What another server answers, or the page of a portal. */
export function foreignReply(url: string, exitCode: number): CliError {
  return new CliError(`${url} is no server of this API: what it answers cannot be read.`, exitCode);
}

/** Returns what a server refuses, or that it does not answer, as the user reads it. */
export function cliError(error: unknown, url: string, exitCode: number): unknown {
  if (error instanceof UnreachableError) return new CliError(`${url} does not answer.`, exitCode);
  if (error instanceof IncompleteReplyError) {
    return new CliError(`${url} breaks its replies off, or does not answer.`, exitCode);
  }
  if (!(error instanceof RefusedError)) return error;
  if (error.code === UNREADABLE && error.status < 300) return foreignReply(url, exitCode);
  return new CliError(`${url} refused (${error.status} ${error.code}): ${error.message}`, exitCode);
}
