import type { Answer } from "../platform/answer.ts";
import type { Item } from "./items.ts";
import type { Counts, VerifiedChunk, VerifyTask } from "./messages.ts";
import { PoolTaskError } from "./pool.ts";
import { addCounts } from "./verifier.ts";

/** Runs a task that has failed before, alone or as a part of another one. */
export type Retry = (task: VerifyTask) => Promise<VerifiedChunk>;

/** Failures left to a batch before its remaining items are given up untried. */
export type FailureBudget = { left: number };

/** A poisonous item among 4,000 is isolated by 12 halvings. Each failure may cost a thread and its deadline. */
export const FAILURES_PER_BATCH_MAX = 64;

/**
 * Verifies a failed chunk by bisection: each half by itself, and the halves of a half that fails, down to a single item. An
 * item that fails alone is given up; so is everything left once the batch has failed too often.
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

/** Joins the outcomes of neighbouring tasks; each but the first starts with a separator. */
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
