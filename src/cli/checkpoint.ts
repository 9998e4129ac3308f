import { rmSync } from "node:fs";
import { isObject } from "../platform/json-value.ts";
import { CliError } from "./failure.ts";
import { isOfOther, type ProcessMark } from "./process-mark.ts";
import { readStateFile, writeStateFile } from "./state-file.ts";
import type { Tally } from "./tally.ts";

/** How far a run has come, kept beside its output. */
export type Checkpoint = {
  readonly version: 1;
  /** Names the run to the server, which charges no block of it twice. */
  readonly runId: string;
  /** The settings that determine the results, as JSON: a run resumes only with the same. */
  readonly settings: string;
  readonly blockRows: number;
  /** Rows of the input whose lines are in the output. */
  readonly rows: number;
  /** SHA-1 of the items of these rows. */
  readonly itemsHash: string;
  readonly outputBytes: number;
  readonly tally: Tally;
  /** The process that writes the output; null where it cannot be known, absent in files of older versions. */
  readonly writer?: ProcessMark | null;
};

export function checkpointPath(output: string): string {
  return `${output}.resume`;
}

/** Returns null where the file is missing. Throws CliError where it cannot be read. */
export function readCheckpoint(output: string): Checkpoint | null {
  const state = readStateFile(checkpointPath(output));
  if (state === null || isCheckpoint(state)) return state;
  throw new CliError(`${checkpointPath(output)} is damaged; remove it and ${output} and start anew.`);
}

/** Throws CliError where another process writes the output now: the lines of both would mix. */
export function refuseOtherWriter(output: string): void {
  const state = readStateFile(checkpointPath(output));
  const writer = isCheckpoint(state) ? (state.writer ?? null) : null;
  if (writer === null || !isOfOther(writer)) return;
  throw new CliError(`${output} is being written by process ${writer.pid}: wait for its end, or end it.`);
}

function isCheckpoint(state: unknown): state is Checkpoint {
  return isObject(state) && state.version === 1 && Number.isSafeInteger(state.rows);
}

/** Replaces the checkpoint in one step. */
export function writeCheckpoint(output: string, checkpoint: Checkpoint): void {
  writeStateFile(checkpointPath(output), checkpoint);
}

export function removeCheckpoint(output: string): void {
  rmSync(checkpointPath(output), { force: true });
  rmSync(`${checkpointPath(output)}.new`, { force: true });
}
