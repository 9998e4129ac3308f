import { ConfigError } from "../app/setting-reader.ts";
import { StorageError, StoreOpenError } from "../store/storage-error.ts";

/** Prints why a command did nothing, and returns its exit code. */
export function fail(sentence: string): number {
  process.stderr.write(`${sentence}\n`);
  return 1;
}

/** Runs a command to its exit code; what is wrong with the settings or keeps the database shut is a sentence for the operator. */
export async function runCommand(main: () => number | Promise<number>): Promise<void> {
  try {
    process.exitCode = await main();
  } catch (error) {
    const isSentence =
      error instanceof ConfigError || error instanceof StoreOpenError || error instanceof StorageError;
    if (!isSentence) throw error;
    process.exitCode = fail(error.message);
  }
}

/**
 * Runs a command whose only argument is the name of a file. An option is no name: `--help` writes the usage, any other is
 * refused.
 */
export function runFileCommand(
  usage: string,
  main: (file: string | undefined) => number | Promise<number>,
): Promise<void> {
  const [file, ...others] = process.argv.slice(2);
  return runCommand(() => {
    if (file === "--help" && others.length === 0) {
      process.stdout.write(`${usage}\n`);
      return 0;
    }
    return others.length > 0 || file?.startsWith("-") === true ? fail(usage) : main(file);
  });
}
