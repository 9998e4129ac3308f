import { lockOutput } from "../app/output-lock.ts";
import { refuseOtherWriter } from "./checkpoint.ts";
import { CliError } from "./failure.ts";
import { refuseUnwritable } from "./output.ts";

/**
 * Takes an output for this process until it is disposed of; null for standard output. Throws CliError where no results can
 * be written there, or another process writes it: by its lock, and on Linux by the checkpoint, which names it.
 */
export function claimOutput(output: string | null, inputPath: string): Disposable | null {
  if (output === null) return null;
  refuseUnwritable(output, inputPath);
  refuseOtherWriter(output);
  const lock = lockOutput(output);
  if (lock !== null) return lock;
  throw new CliError(`${output} is being written by another process: wait for its end, or end it.`);
}
