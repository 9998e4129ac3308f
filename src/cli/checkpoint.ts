import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { CliError } from "./failure.ts";
import type { Tally } from "./tally.ts";

/** How far a run has come, kept beside its output. */
export type Checkpoint = {
  readonly version: 1;
  /** Names the run to the server, which charges no block of it twice. */
  readonly runId: string;
  /** What decides the results, as JSON: a run goes on only under the same. */
  readonly settings: string;
  readonly blockRows: number;
  /** Rows of the input whose lines are in the output. */
  readonly rows: number;
  /** SHA-1 of the items of these rows. */
  readonly itemsHash: string;
  readonly outputBytes: number;
  readonly tally: Tally;
};

export function checkpointPath(output: string): string {
  return `${output}.resume`;
}

/** Null where there is none. */
export function readCheckpoint(output: string): Checkpoint | null {
  let text: string;
  try {
    text = readFileSync(checkpointPath(output), "utf8");
  } catch {
    return null;
  }
  const checkpoint = parse(text);
  if (checkpoint === null) {
    throw new CliError(`${checkpointPath(output)} is damaged; remove it and ${output} and start anew.`);
  }
  return checkpoint;
}

function parse(text: string): Checkpoint | null {
  try {
    const checkpoint = JSON.parse(text);
    return checkpoint.version === 1 && Number.isSafeInteger(checkpoint.rows) ? checkpoint : null;
  } catch {
    return null;
  }
}

/** Replaces the checkpoint in one step. */
export function writeCheckpoint(output: string, checkpoint: Checkpoint): void {
  const path = checkpointPath(output);
  writeFileSync(`${path}.new`, `${JSON.stringify(checkpoint)}\n`);
  renameSync(`${path}.new`, path);
}

export function removeCheckpoint(output: string): void {
  rmSync(checkpointPath(output), { force: true });
  rmSync(`${checkpointPath(output)}.new`, { force: true });
}
