import { StorageError, StoreOpenError } from "../store/storage-error.ts";

/** Tells the operator why a command did nothing, and returns its exit code. */
export function fail(sentence: string): number {
  process.stderr.write(`${sentence}\n`);
  return 1;
}

/** Runs a command to its exit code; what keeps the database shut is a sentence for the operator. */
export async function runCommand(main: () => number | Promise<number>): Promise<void> {
  try {
    process.exitCode = await main();
  } catch (error) {
    if (!(error instanceof StoreOpenError) && !(error instanceof StorageError)) throw error;
    process.exitCode = fail(error.message);
  }
}
