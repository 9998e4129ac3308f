import { mapConcurrently } from "../batch/concurrent-map.ts";
import type { Table } from "../tables/table.ts";
import { statusOf } from "../tables/task.ts";
import type { BlockResults, Verifier } from "./block-verifier.ts";
import { type Block, blocksOf } from "./blocks.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { CliError, EXIT } from "./failure.ts";
import type { FileRun, FileRunDependencies } from "./file-run-options.ts";
import type { Input } from "./input.ts";
import type { Output } from "./output.ts";
import { createProgress, type Progress } from "./progress.ts";
import type { Ledger } from "./run-ledger.ts";
import type { Source } from "./source.ts";
import { leftOutText, stoppedText, summaryText } from "./summary.ts";
import { uncheckedCount } from "./tally.ts";

/** A run with everything open that it needs. */
export type Work = {
  readonly run: FileRun;
  readonly dependencies: FileRunDependencies;
  readonly source: Source;
  readonly input: Input;
  readonly verifier: Verifier;
  readonly output: Output;
  readonly ledger: Ledger;
  readonly table: Table;
  readonly blockRows: number;
  readonly from: Checkpoint | null;
  /** Returns the fields, of the rows read so far, that the table leaves out. */
  readonly leftOutFields: () => readonly string[];
};

/** Verifies and writes block after block; returns the exit code. */
export async function runBlocks(work: Work): Promise<number> {
  const { run, dependencies, source, ledger } = work;
  const { clock, stderr } = dependencies;
  const quiet = run.quiet || (run.output === null && dependencies.isStdoutTerminal);
  const progress = createProgress({ stream: stderr, quiet, bytesTotal: source.bytesTotal, clock });
  dependencies.onInterrupt(() => {
    progress.stop();
    ledger.save();
    return `Interrupted. ${stateOf(work)}`;
  });
  const startedMs = clock.monotonic();
  try {
    await writeBlocks(work, progress);
  } catch (error) {
    progress.stop();
    throw withState(error, work);
  }
  progress.stop();
  ledger.finish();
  if (!run.quiet) stderr.write(summaryOf(work, (clock.monotonic() - startedMs) / 1000));
  const troubles = [await work.verifier.trouble(), changeText(source)].filter((trouble) => trouble !== null);
  stderr.write(troubles.map((trouble) => `${trouble}\n`).join(""));
  return troubles.length > 0 || uncheckedCount(ledger.tally()) > 0 ? EXIT.someUnchecked : EXIT.done;
}

function changeText({ name, isChanged }: Source): string | null {
  if (!isChanged()) return null;
  return `${name} was changed while it was read: rows may be missing, and the last one may be cut. Check it again.`;
}

function summaryOf({ run, ledger, from, output, source, leftOutFields }: Work, seconds: number): string {
  const tally = ledger.tally();
  const rows = tally.rows - (from?.rows ?? 0);
  const isServer = run.server !== null;
  const facts = { task: run.task, tally, rows, seconds, outputName: output.name, isServer };
  return summaryText(facts) + leftOutText(source.name, leftOutFields());
}

async function writeBlocks(work: Work, progress: Progress): Promise<void> {
  const { input, verifier, ledger, table, source, from } = work;
  const done = from?.rows ?? 0;
  const blocks = blocksOf(input.runs, { blockRows: work.blockRows, from: done, bytesRead: source.bytesRead });
  await ledger.begin(table.header);
  const verified = mapConcurrently(
    failureLast(undone(blocks, ledger)),
    verifier.blocksInFlight,
    async (next) => {
      if ("failure" in next) throw next.failure;
      const items = next.rows.map(({ item }) => item);
      return { block: next, results: await verifier.verify(items, `${ledger.runId}-${next.firstRow}`) };
    },
  );
  for await (const { block, results } of verified) {
    await writeBlock(work, block, results);
    progress.update({ rows: block.firstRow + block.rows.length, bytes: block.bytesRead });
  }
  verifier.refuseOtherEnd(ledger.tally().rows);
}

/** Skips the rows of the earlier run. Throws where the input is another one. */
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

async function writeBlock({ run, table, ledger }: Work, block: Block, results: BlockResults): Promise<void> {
  const lines: string[] = [];
  for (const [position, result] of results.results.entries()) {
    const row = block.rows[position];
    if (row === undefined) throw new Error("a block has more results than rows");
    if (run.only === null || run.only.includes(statusOf(run.task, result)))
      lines.push(table.line(row, result));
  }
  await ledger.write(run.task, block, { ...results, text: lines.join(""), written: lines.length });
}

/** Yields the blocks that were read before a failure, and then throws it. */
async function* failureLast(
  blocks: AsyncIterable<Block>,
): AsyncGenerator<Block | { readonly failure: unknown }> {
  try {
    yield* blocks;
  } catch (failure) {
    yield { failure };
  }
}

/** Returns the message of a failure: what happened, what is done, how to resume. */
function withState(error: unknown, work: Work): unknown {
  const { ledger } = work;
  ledger.save();
  if (!(error instanceof CliError) || error.message === "" || !ledger.isInStep()) return error;
  return new CliError(`${error.message} ${stateOf(work)}`, error.exitCode, { cause: error });
}

function stateOf({ run, output, ledger }: Work): string {
  return stoppedText(ledger.state(), { name: output.name, isChosen: run.only !== null });
}
