import { inOrder } from "../batch/in-order.ts";
import type { Clock } from "../clock.ts";
import { type Block, blocksOf } from "./blocks.ts";
import { type Checkpoint, readCheckpoint } from "./checkpoint.ts";
import { CliError, EXIT } from "./failure.ts";
import { type Input, type InputWish, openRows } from "./input.ts";
import type { Judge, Judged, ServerWish } from "./judge.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { type Output, openOutput, statOf } from "./output.ts";
import { createProgress, grouped, type Progress } from "./progress.ts";
import { openSource, type Source } from "./source.ts";
import { summaryText } from "./summary.ts";
import { createTable, type OutputFormat, type Table } from "./table.ts";
import { uncheckedCount } from "./tally.ts";
import { statusOf, type Task } from "./task.ts";

/** A file to check, as the command line says it. */
export type FileRun = {
  readonly task: Task;
  readonly input: InputWish;
  /** Null: standard output. */
  readonly output: string | null;
  /** Undefined: by the output's name, or by the input's form. */
  readonly format: OutputFormat | undefined;
  /** Statuses to write; null: all. */
  readonly only: readonly string[] | null;
  readonly force: boolean;
  readonly resume: boolean;
  readonly quiet: boolean;
  /** Null: check here. */
  readonly server: ServerWish | null;
};

export type FileRunParts = {
  readonly openJudge: (task: Task, server: ServerWish | null) => Promise<Judge>;
  readonly clock: Clock;
  readonly newRunId: () => string;
  readonly stderr: NodeJS.WriteStream;
  /** Told what to do when the user interrupts: keep the state, and return what to say. */
  readonly onInterrupt: (stop: () => string) => void;
};

/**
 * Checks a file from end to end in bounded memory and returns the exit code. What stops it half-way leaves whole
 * lines in the output and, where that is a file, a checkpoint to go on from. Throws CliError.
 */
export async function verifyFile(run: FileRun, parts: FileRunParts): Promise<number> {
  const from = run.resume ? checkpointOf(run) : null;
  const source = openSource(run.input.path, run.input.encoding);
  const input = await openRows(source, run.task.kind, run.input);
  const format = run.format ?? formatByName(run.output) ?? (input.format === "ndjson" ? "ndjson" : "csv");
  const settings = JSON.stringify({
    task: run.task,
    server: run.server?.url ?? null,
    only: run.only,
    format,
    columns: input.columns,
    delimiter: input.delimiter,
  });
  if (from !== null && from.settings !== settings) {
    throw new CliError(
      `${run.output} was begun with other options or another input; start anew with --force.`,
    );
  }
  await using judge = await parts.openJudge(run.task, run.server);
  refuseHalfDone(run);
  const output = openOutput({
    path: run.output,
    force: run.force,
    resumeAt: from?.outputBytes ?? null,
    inputPath: run.input.path,
  });
  const blockRows = Math.min(from?.blockRows ?? judge.blockRowsMax, judge.blockRowsMax);
  const ledger = createLedger({
    output,
    from,
    settings,
    blockRows,
    clock: parts.clock,
    newRunId: parts.newRunId,
  });
  const table = createTable(format, run.task, input);
  return await runBlocks({ run, parts, source, input, judge, output, ledger, table, blockRows, from });
}

type Work = {
  readonly run: FileRun;
  readonly parts: FileRunParts;
  readonly source: Source;
  readonly input: Input;
  readonly judge: Judge;
  readonly output: Output;
  readonly ledger: Ledger;
  readonly table: Table;
  readonly blockRows: number;
  readonly from: Checkpoint | null;
};

async function runBlocks(work: Work): Promise<number> {
  const { run, parts, source, output, ledger } = work;
  const { clock, stderr } = parts;
  const progress = createProgress({ stream: stderr, quiet: run.quiet, bytesTotal: source.bytesTotal, clock });
  parts.onInterrupt(() => {
    progress.stop();
    ledger.save();
    return `Interrupted. ${whatIsDone(output, ledger)}`;
  });
  const startedMs = clock.monotonic();
  try {
    await writeBlocks(work, progress);
  } catch (error) {
    progress.stop();
    throw stopped(error, output, ledger);
  }
  progress.stop();
  ledger.finish();
  const tally = ledger.tally();
  if (!run.quiet) {
    const rows = tally.rows - (work.from?.rows ?? 0);
    const seconds = (clock.monotonic() - startedMs) / 1000;
    const facts = {
      task: run.task,
      tally,
      rows,
      seconds,
      outputName: output.name,
      isServer: run.server !== null,
    };
    stderr.write(summaryText(facts));
  }
  return uncheckedCount(tally) > 0 ? EXIT.someUnchecked : EXIT.done;
}

async function writeBlocks(work: Work, progress: Progress): Promise<void> {
  const { input, judge, ledger, table, source, from } = work;
  const done = from?.rows ?? 0;
  const blocks = blocksOf(input.runs, { blockRows: work.blockRows, from: done, bytesRead: source.bytesRead });
  if (from === null) await ledger.begin(table.header);
  const judgements = inOrder(failureLast(undone(blocks, ledger)), judge.blocksInFlight, async (next) => {
    if ("failure" in next) throw next.failure;
    const items = next.rows.map(({ item }) => item);
    return { block: next, judged: await judge.judge(items, `${ledger.runId}-${next.firstRow}`) };
  });
  for await (const { block, judged } of judgements) {
    await writeBlock(work, block, judged);
    progress.update({ rows: block.firstRow + block.rows.length, bytes: block.bytesRead });
  }
}

/** Reads over what an earlier run has written, and goes on only where it is the same input. */
async function* undone(blocks: AsyncIterable<Block>, ledger: Ledger): AsyncGenerator<Block> {
  for await (const block of blocks) {
    if (block.isDone) ledger.skip(block);
    else {
      ledger.compareSkipped();
      yield block;
    }
  }
  ledger.compareSkipped();
}

async function writeBlock({ run, table, ledger }: Work, block: Block, judged: Judged): Promise<void> {
  const lines: string[] = [];
  for (const [position, result] of judged.results.entries()) {
    const row = block.rows[position];
    if (row === undefined) throw new Error("a block has more results than rows");
    if (run.only === null || run.only.includes(statusOf(run.task, result)))
      lines.push(table.line(row, result));
  }
  await ledger.write(run.task, block, { ...judged, text: lines.join(""), written: lines.length });
}

/** What was read before a failure is worked off before the failure is met. */
async function* failureLast(
  blocks: AsyncIterable<Block>,
): AsyncGenerator<Block | { readonly failure: unknown }> {
  try {
    yield* blocks;
  } catch (failure) {
    yield { failure };
  }
}

/** The failure as the user reads it: what happened, what is done, how to go on. */
function stopped(error: unknown, output: Output, ledger: Ledger): unknown {
  ledger.save();
  if (!(error instanceof CliError) || error.message === "" || !ledger.isInStep()) return error;
  return new CliError(`${error.message} ${whatIsDone(output, ledger)}`, error.exitCode, { cause: error });
}

function whatIsDone(output: Output, ledger: Ledger): string {
  const { rows } = ledger.tally();
  if (rows === 0) return "Nothing was written.";
  if (!output.isResumable) return `The results of ${grouped(rows)} rows were written.`;
  return `The results of ${grouped(rows)} rows are in ${output.name}; the same command with --resume goes on from there.`;
}

function formatByName(output: string | null): OutputFormat | null {
  if (output === null) return null;
  if (/\.(?:csv|tsv)$/i.test(output)) return "csv";
  return /\.(?:ndjson|jsonl|json)$/i.test(output) ? "ndjson" : null;
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
