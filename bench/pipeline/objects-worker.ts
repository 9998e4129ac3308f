import type { JudgeTask } from "../../src/batch/messages.ts";
import { createSplitBatch } from "../../src/batch/split.ts";
import { createSplitTask } from "../../src/batch/thread-tasks.ts";
import { createJudgements } from "../../src/batch/verdict-cache.ts";
import { createEmailJudge } from "../../src/verification/email/verification.ts";

/** Results go back as objects, which the main thread then has to write down: for comparison with bytes. */

const verify = createEmailJudge();
const judgementsOf = createJudgements();

export const split = createSplitTask(createSplitBatch());
export const judge = (task: JudgeTask) => {
  const addresses: readonly string[] = JSON.parse(task.items);
  const judgementAt = judgementsOf(task);
  const results = addresses.map((address, position) => verify(address, judgementAt(position)));
  const counts: { [status: string]: number } = {};
  for (const { status } of results) counts[status] = (counts[status] ?? 0) + 1;
  return { results, counts, chargeable: results.length };
};
