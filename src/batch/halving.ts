import type { Answer } from "../platform/answer.ts";
import type { Item } from "./items.ts";
import type { Counts, VerifiedChunk, VerifyTask } from "./messages.ts";
import { PoolTaskError } from "./pool.ts";
import { addCounts } from "./verifier.ts";

/** Runs a task in a thread that has failed before, as a whole or as a part of another. */
export type Retry = (task: VerifyTask) => Promise<VerifiedChunk>;

/** Failures that a batch may still have before its items are given up untried. */
export type FailureBudget = { left: number };

/** One poisoned item of 4,000 is found after 12 halvings. Each failure may cost a thread and its deadline. */
export const FAILURES_PER_BATCH_MAX = 64;

/**
 * Verifies a chunk that has failed: its halves each by itself, and those of a half that fails, until what fails is one
 * item. That is given up once it has failed alone, and all that is left where the batch has failed too often.
 */
export async function verifyByHalves(
  task: VerifyTask,
  retry: Retry,
  giveUp: (task: VerifyTask) => Answer<VerifiedChunk>,
  budget: FailureBudget,
): Promise<VerifiedChunk> {
  const pieces = task.count === 1 ? [task] : halvesOf(task);
  const outcomes: VerifiedChunk[] = [];
  for (const piece of pieces) {
    if (budget.left <= 0) outcomes.push(await giveUp(piece));
    else outcomes.push(await verifyPiece(piece, retry, giveUp, budget));
  }
  return joined(outcomes);
}

async function verifyPiece(
  piece: VerifyTask,
  retry: Retry,
  giveUp: (task: VerifyTask) => Answer<VerifiedChunk>,
  budget: FailureBudget,
): Promise<VerifiedChunk> {
  try {
    return await retry(piece);
  } catch (error) {
    if (!(error instanceof PoolTaskError)) throw error;
    budget.left -= 1;
    return piece.count === 1 ? await giveUp(piece) : await verifyByHalves(piece, retry, giveUp, budget);
  }
}

function halvesOf(task: VerifyTask): readonly [VerifyTask, VerifyTask] {
  const items: readonly Item[] = JSON.parse(task.items);
  const middle = Math.floor(task.count / 2);
  return [partOf(task, items, 0, middle), partOf(task, items, middle, task.count)];
}

function partOf(task: VerifyTask, items: readonly Item[], start: number, end: number): VerifyTask {
  const duplicates = task.duplicates.filter((position) => position >= start && position < end);
  return {
    ...task,
    items: JSON.stringify(items.slice(start, end)),
    count: end - start,
    duplicates: duplicates.map((position) => position - start),
    domainNumbers: task.domainNumbers?.slice(start, end) ?? null,
    continues: task.continues || start > 0,
  };
}

/** Outcomes of neighbouring tasks as one: each but the first begins with a separator. */
function joined(outcomes: readonly VerifiedChunk[]): VerifiedChunk {
  const counts: { [status: string]: Counts[string] } = {};
  for (const outcome of outcomes) addCounts(counts, outcome.counts);
  return {
    bytes: Buffer.concat(outcomes.map(({ bytes }) => bytes)),
    counts,
    chargeable: outcomes.reduce((sum, { chargeable }) => sum + chargeable, 0),
    failures: outcomes.reduce((sum, { failures }) => sum + failures, 0),
  };
}
