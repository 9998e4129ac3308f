import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { CliError, systemReason } from "./failure.ts";

/** What is known of a job beside its output, until the output is whole. */
export type JobState = {
  readonly version: 1;
  readonly jobId: string;
  readonly server: string;
  /** The task, as JSON: a job goes on only under the same. */
  readonly task: string;
  /** SHA-256 of each part that is on the server, in order. */
  readonly parts: readonly string[];
};

function pathOf(output: string): string {
  return `${output}.job`;
}

/** Returns null where there is none. Throws CliError where it cannot be read. */
export function readJobState(output: string): JobState | null {
  let text: string;
  try {
    text = readFileSync(pathOf(output), "utf8");
  } catch {
    return null;
  }
  try {
    const state = JSON.parse(text);
    if (state.version === 1 && typeof state.jobId === "string" && Array.isArray(state.parts)) return state;
  } catch {
    // It says so below.
  }
  throw new CliError(
    `${pathOf(output)} is damaged; remove it, and go on with --attach where the job is known.`,
  );
}

/** Replaces the state in one step. Nothing is written where the results go to standard output. */
export function writeJobState(output: string | null, state: JobState): void {
  if (output === null) return;
  const path = pathOf(output);
  try {
    writeFileSync(`${path}.new`, `${JSON.stringify(state)}\n`);
    renameSync(`${path}.new`, path);
  } catch (error) {
    throw new CliError(`${path} cannot be written: ${systemReason(error)}.`);
  }
}

export function removeJobState(output: string | null): void {
  if (output !== null) rmSync(pathOf(output), { force: true });
}
