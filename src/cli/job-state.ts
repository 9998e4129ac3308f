import { rmSync } from "node:fs";
import { isObject } from "../platform/json-value.ts";
import { systemReason } from "../platform/system-reason.ts";
import { CliError } from "./failure.ts";
import { readStateFile, writeStateFile } from "./state-file.ts";

/** The state of a job run, kept beside its output until that is complete. */
export type JobState = {
  readonly version: 1;
  readonly jobId: string;
  readonly server: string;
  /** The task, as JSON: a job run resumes only with the same. */
  readonly task: string;
  /** SHA-256 of each part that was sent, in order. The last one may not have arrived. */
  readonly parts: readonly string[];
};

function pathOf(output: string): string {
  return `${output}.job`;
}

/** Returns null where the file is missing. Throws CliError where it cannot be read. */
export function readJobState(output: string): JobState | null {
  const state = readStateFile(pathOf(output));
  if (state === null || isJobState(state)) return state;
  throw new CliError(
    `${pathOf(output)} is damaged; remove it, and go on with --attach where the job is known.`,
  );
}

function isJobState(state: unknown): state is JobState {
  return (
    isObject(state) && state.version === 1 && typeof state.jobId === "string" && Array.isArray(state.parts)
  );
}

/** Replaces the state in one step. Nothing is written where the results go to standard output. */
export function writeJobState(output: string | null, state: JobState): void {
  if (output === null) return;
  const path = pathOf(output);
  try {
    writeStateFile(path, state);
  } catch (error) {
    throw new CliError(`${path} cannot be written: ${systemReason(error)}.`);
  }
}

export function removeJobState(output: string | null): void {
  if (output !== null) rmSync(pathOf(output), { force: true });
}
