import type { Budget } from "../billing/budget.ts";
import { hintFor } from "../tables/csv-form.ts";
import { createTable, type TableForm } from "../tables/table.ts";
import { KINDS, type Task } from "../tables/task.ts";
import { PLAIN_TEXT } from "../tables/text-form.ts";
import { runBlocks } from "./block-run.ts";
import { type Checkpoint, readCheckpoint, refuseOtherWriter } from "./checkpoint.ts";
import { CliError } from "./failure.ts";
import type { FileRun, FileRunDependencies } from "./file-run-options.ts";
import { type Input, type InputOptions, openRows } from "./input.ts";
import { openOutput, statOf } from "./output.ts";
import { claimOutput } from "./output-claim.ts";
import { costOf, costText, refuseOverBudget } from "./run-cost.ts";
import { createLedger } from "./run-ledger.ts";
import { openSource, type Source } from "./source.ts";

/**
 * Checks a file in bounded memory and returns the exit code. An interrupted run leaves whole lines in the output and, if
 * that is a file, a checkpoint to resume from. Throws CliError.
 */
export async function verifyFile(run: FileRun, dependencies: FileRunDependencies): Promise<number> {
  using _ = claimOutput(run.output, run.input.path);
  return await verifyIntoClaimed(run, dependencies);
}

/** Checks a file as `verifyFile` does, into an output that this process has claimed already. */
export async function verifyIntoClaimed(run: FileRun, dependencies: FileRunDependencies): Promise<number> {
  const from = run.resume ? checkpointOf(run) : null;
  const source = openSource(run.input.path, run.input.encoding);
  const input = await openRows(source, run.task.kind, run.input);
  const form = tableFormOf(run, input);
  const settings = settingsOf(run, form);
  if (from !== null && from.settings !== settings) {
    const fault = `${run.output} was begun with other options or another input`;
    throw new CliError(`${fault}; start anew with --force.`);
  }
  await using verifier = await dependencies.openVerifier(run.task, run.server);
  refuseHalfDone(run);
  const blockRows = Math.min(from?.blockRows ?? verifier.blockRowsMax, verifier.blockRowsMax);
  const notes = [
    ...(await costNotes(run, source, verifier.budget, { blockRows, from: from?.rows ?? 0 })),
    ...columnNotes(input, source.name, run.task),
  ];
  const { force } = run;
  const resumeAt = from?.outputBytes ?? null;
  const { encoding } = form.textForm;
  // Counting the cost may have taken long, and not every file system has locks.
  if (run.output !== null) refuseOtherWriter(run.output);
  const output = openOutput({ path: run.output, force, resumeAt, inputPath: run.input.path, encoding });
  if (!run.quiet) dependencies.stderr.write(notes.map((note) => `${note}\n`).join(""));
  const { clock, newRunId } = dependencies;
  const ledger = createLedger({ output, from, settings, blockRows, clock, newRunId });
  const table = createTable(run.task, form);
  return await runBlocks({
    run,
    dependencies,
    source,
    input,
    verifier,
    output,
    ledger,
    table,
    blockRows,
    from,
    leftOutFields: () => leftOutFields(input, form),
  });
}

/** Estimates the cost of the run by reading the whole input. Throws CliError where it is too high. */
async function costNotes(
  { input, task, partial }: FileRun,
  { name, bytesTotal }: Source,
  budget: Budget | null,
  rows: { readonly blockRows: number; readonly from: number },
): Promise<readonly string[]> {
  if (budget === null) return [];
  const units = bytesTotal === null ? null : await unitsOfFile(task, input, rows);
  if (!partial) refuseOverBudget(name, units, budget);
  return [costText(name, units, budget)];
}

/** Reads the file once before the run. Standard input and pipes can be read once only. */
async function unitsOfFile(
  task: Task,
  options: InputOptions,
  rows: { readonly blockRows: number; readonly from: number },
): Promise<number> {
  const { runs } = await openRows(openSource(options.path, options.encoding), task.kind, options);
  return costOf(runs, task, rows);
}

function columnNotes({ chosen }: Input, name: string, task: Task): readonly string[] {
  if (chosen === null) return [];
  const { plural } = KINDS[task.kind];
  const { number, header } = chosen;
  const title = header === null ? "the file has no header" : `"${header.trim()}"`;
  return [`The ${plural} of ${name} are in column ${number} (${title}).`];
}

/** Returns the format of the output: that of its name, else that of the input. */
function tableFormOf({ output, format }: FileRun, input: Input): TableForm {
  const ending = /\.(csv|tsv|ndjson|jsonl)$/i.exec(output ?? "")?.[1]?.toLowerCase();
  const byInput = input.format === "ndjson" ? "ndjson" : "csv";
  const byName = ending === undefined ? byInput : /[ct]sv/.test(ending) ? "csv" : "ndjson";
  const form = format ?? byName;
  const { columns, hint, textForm } = input;
  if (form === "ndjson") return { format: form, columns, delimiter: ",", hint: "", textForm: PLAIN_TEXT };
  // Spreadsheets read UTF-16 in columns only where tabs part them.
  const isTabbed = input.delimiter === "\t" && textForm.encoding !== "utf-8";
  const becomesCommas = ending === "csv" && input.delimiter === "\t" && !isTabbed;
  const delimiter = ending === "tsv" ? "\t" : becomesCommas ? "," : input.delimiter;
  const itemField = input.fields === undefined ? {} : { itemField: input.fields.item };
  return { format: form, columns, delimiter, hint: hintFor(hint, delimiter), textForm, ...itemField };
}

/** Returns the fields, of the rows read so far, that the table leaves out. */
function leftOutFields({ fields }: Input, { format }: TableForm): readonly string[] {
  return format === "csv" && fields !== undefined ? fields.withoutColumn() : [];
}

/** Returns the settings that a resumed run must share with the earlier one. */
function settingsOf({ task, only, server }: FileRun, form: TableForm): string {
  return JSON.stringify({ task, server: server?.url ?? null, only, ...form });
}

/** Returns where to resume; null without an earlier run. */
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

/** Refuses to overwrite a partial output, and suggests to resume. */
function refuseHalfDone({ output, resume, force }: FileRun): void {
  if (output === null || resume || force) return;
  if (readCheckpoint(output) === null || statOf(output) === null) return;
  throw new CliError(`${output} is half done; use --resume to go on or --force to begin anew.`);
}
