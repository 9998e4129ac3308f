import { createHash } from "node:crypto";
import type { Clock } from "../platform/clock.ts";
import { systemReason } from "../platform/system-reason.ts";
import type { Task } from "../tables/task.ts";
import type { BlockResults } from "./block-verifier.ts";
import type { Block } from "./blocks.ts";
import { type Checkpoint, checkpointPath, removeCheckpoint, writeCheckpoint } from "./checkpoint.ts";
import { CliError } from "./failure.ts";
import type { Output } from "./output.ts";
import { processMark } from "./process-mark.ts";
import { addToTally, EMPTY_TALLY, type Tally } from "./tally.ts";

/** Keeps output, counts and checkpoint consistent: the checkpoint is never ahead of the output. */
export type Ledger = {
  readonly runId: string;
  readonly tally: () => Tally;
  /**
   * Writes the first line and the first checkpoint, or names this process in the one that it goes on from. Throws CliError
   * where there is no room for them.
   */
  readonly begin: (header: string) => Promise<void>;
  readonly write: (task: Task, block: Block, results: WrittenBlock) => Promise<void>;
  /** Reads over a block that an earlier run has written. */
  readonly skip: (block: Block) => void;
  /** Throws CliError unless the blocks read over are those that were written. */
  readonly compareSkipped: () => void;
  /** False while an earlier run's blocks are read over. */
  readonly isInStep: () => boolean;
  /** The state of the output and of the last checkpoint. */
  readonly state: () => WrittenState;
  /** Writes the checkpoint, with all lines before it safely on the disk; the old one stays where that fails. */
  readonly save: () => void;
  /** Takes the checkpoint away: the output is whole. */
  readonly finish: () => void;
};

export type WrittenState = {
  /** Rows whose results are in the output, and how many of these results were chosen to be written. */
  readonly rows: number;
  readonly written: number;
  /** Rows to resume after; null without a checkpoint. */
  readonly savedRows: number | null;
  /** Bytes of the output, the header's included. */
  readonly bytes: number;
  /** Whether an output that cannot be truncated contains a part of the next results. */
  readonly isTorn: boolean;
};

export type WrittenBlock = BlockResults & { readonly text: string; readonly written: number };

export type LedgerDependencies = {
  readonly output: Output;
  readonly from: Checkpoint | null;
  readonly settings: string;
  readonly blockRows: number;
  readonly clock: Clock;
  readonly newRunId: () => string;
};

/** Work that a killed process may have to do once more; it is never written twice. */
const SAVE_INTERVAL_MS = 1000;

export function createLedger({
  output,
  from,
  settings,
  blockRows,
  clock,
  newRunId,
}: LedgerDependencies): Ledger {
  // Blocks of another size are other calls to the server.
  const runId = from !== null && from.blockRows === blockRows ? from.runId : newRunId();
  const writer = processMark(process.pid);
  const hash = createHash("sha1");
  let tally = from?.tally ?? EMPTY_TALLY;
  let outputBytes = output.position();
  let rowsSeen = 0;
  // Until then an earlier run's checkpoint is the right one.
  let isInStep = from === null;
  let savedMs = clock.monotonic();
  let savedRows = from?.rows ?? null;

  const digest = () => hash.copy().digest("hex");

  function addToHash({ rows }: Block): void {
    hash.update(`${rows.map(({ item }) => item).join("\n")}\n`);
    rowsSeen += rows.length;
  }

  function writeState(): void {
    savedMs = clock.monotonic();
    output.sync();
    const itemsHash = digest();
    const { rows } = tally;
    writeCheckpoint(output.name, {
      version: 1,
      runId,
      settings,
      blockRows,
      rows,
      itemsHash,
      outputBytes,
      tally,
      writer,
    });
    savedRows = rows;
  }

  function save(): void {
    if (!output.isResumable || !isInStep) return;
    try {
      writeState();
    } catch {
      // The disk is full or gone: then the checkpoint before still holds.
    }
  }

  async function append(text: string): Promise<void> {
    try {
      await output.write(text);
    } catch (error) {
      output.truncate(outputBytes);
      throw error;
    }
    outputBytes = output.position();
  }

  return {
    runId,
    tally: () => tally,
    isInStep: () => isInStep,
    state: () => ({
      rows: tally.rows,
      written: tally.written,
      savedRows,
      bytes: outputBytes,
      isTorn: output.position() > outputBytes,
    }),
    save,
    async begin(header) {
      if (from === null) await append(header);
      if (!output.isResumable) return;
      try {
        if (from === null) writeState();
        else writeCheckpoint(output.name, { ...from, writer });
      } catch (error) {
        throw new CliError(`${checkpointPath(output.name)} cannot be written: ${systemReason(error)}.`);
      }
    },
    async write(task, block, { results, unitsCharged, text, written }) {
      await append(text);
      addToHash(block);
      tally = addToTally(tally, task, results, { written, unitsCharged });
      if (clock.monotonic() - savedMs >= SAVE_INTERVAL_MS) save();
    },
    skip: addToHash,
    compareSkipped() {
      if (from === null || isInStep) return;
      isInStep = rowsSeen === from.rows && digest() === from.itemsHash;
      if (isInStep) return;
      throw new CliError(
        `The input is not the one that ${output.name} was begun with; start anew with --force.`,
      );
    },
    finish() {
      if (!output.isResumable) return;
      output.sync();
      removeCheckpoint(output.name);
      output.close();
    },
  };
}
