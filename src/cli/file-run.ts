import { runBlocks } from "./block-run.ts";
import { type Checkpoint, readCheckpoint } from "./checkpoint.ts";
import { CliError } from "./failure.ts";
import type { FileRun, FileRunParts } from "./file-run-options.ts";
import { type Input, openRows } from "./input.ts";
import { openOutput, statOf } from "./output.ts";
import { createLedger } from "./run-ledger.ts";
import { openSource } from "./source.ts";
import { createTable, type OutputFormat } from "./table.ts";

/**
 * Checks a file from end to end in bounded memory and returns the exit code. What stops it half-way leaves whole
 * lines in the output and, where that is a file, a checkpoint to go on from. Throws CliError.
 */
export async function verifyFile(run: FileRun, parts: FileRunParts): Promise<number> {
  const from = run.resume ? checkpointOf(run) : null;
  const source = openSource(run.input.path, run.input.encoding);
  const input = await openRows(source, run.task.kind, run.input);
  const form = formatOf(run, input);
  const settings = settingsOf(run, input, form);
  if (from !== null && from.settings !== settings) {
    const fault = `${run.output} was begun with other options or another input`;
    throw new CliError(`${fault}; start anew with --force.`);
  }
  await using judge = await parts.openJudge(run.task, run.server);
  refuseHalfDone(run);
  const { force } = run;
  const resumeAt = from?.outputBytes ?? null;
  const output = openOutput({ path: run.output, force, resumeAt, inputPath: run.input.path });
  const blockRows = Math.min(from?.blockRows ?? judge.blockRowsMax, judge.blockRowsMax);
  const { clock, newRunId } = parts;
  const ledger = createLedger({ output, from, settings, blockRows, clock, newRunId });
  const table = createTable(form.format, run.task, { columns: input.columns, delimiter: form.delimiter });
  return await runBlocks({ run, parts, source, input, judge, output, ledger, table, blockRows, from });
}

/** As the output's name says, or else as the input is. */
function formatOf({ output, format }: FileRun, input: Input): { format: OutputFormat; delimiter: string } {
  const ending = /\.(csv|tsv|ndjson|jsonl)$/i.exec(output ?? "")?.[1]?.toLowerCase();
  const byInput = input.format === "ndjson" ? "ndjson" : "csv";
  const byName = ending === undefined ? byInput : /[ct]sv/.test(ending) ? "csv" : "ndjson";
  const delimiter =
    ending === "tsv" ? "\t" : ending === "csv" && input.delimiter === "\t" ? "," : input.delimiter;
  return { format: format ?? byName, delimiter };
}

/** What an earlier run must have in common with this one. */
function settingsOf(run: FileRun, input: Input, form: { format: OutputFormat; delimiter: string }): string {
  const { task, only } = run;
  return JSON.stringify({ task, server: run.server?.url ?? null, only, ...form, columns: input.columns });
}

/** Where to go on; null where nothing was begun. */
function checkpointOf(run: FileRun): Checkpoint | null {
  if (run.output === null)
    throw new CliError("--resume needs --output: standard output cannot be gone on with.");
  const checkpoint = readCheckpoint(run.output);
  const output = statOf(run.output);
  if (checkpoint !== null && output === null) {
    throw new CliError(`${run.output} is gone, so it cannot be gone on with; start anew with --force.`);
  }
  if (checkpoint === null && output !== null && output.isFile() && output.size > 0 && !run.force) {
    throw new CliError(`${run.output} is not half done: it is finished, or no work of this command.`);
  }
  return checkpoint;
}

/** Beginning anew over a half-done output is refused with the better advice. */
function refuseHalfDone({ output, resume, force }: FileRun): void {
  if (output === null || resume || force) return;
  if (readCheckpoint(output) === null || statOf(output) === null) return;
  throw new CliError(`${output} is half done; use --resume to go on or --force to begin anew.`);
}
