import type { JudgeOutcome, JudgeTask } from "../../src/batch/messages.ts";
import { createSplitBatch } from "../../src/batch/split.ts";
import { createJudgeTask, createSplitTask } from "../../src/batch/thread-tasks.ts";

/** The tasks of workers/batch.ts with a verifier that verifies nothing: every result is one text of a given size. */

const size = Number(process.env.BENCH_RESULT_BYTES ?? 300);
const json = JSON.stringify({ email: "", padding: "" });
const result = json.replace(/"}$/, `${"x".repeat(size - json.length)}"}`);

export const split = createSplitTask(createSplitBatch());
export const ping = () => "pong";
export const judge = createJudgeTask(judgeNothing);

/** Reads the items as a verifier has to, and repeats the text for each of them. */
function judgeNothing({ items, repeats, separator, continues }: JudgeTask): JudgeOutcome {
  const { length }: readonly unknown[] = JSON.parse(items);
  const text = new Array(length).fill(result).join(separator);
  const bytes = new TextEncoder().encode(continues ? separator + text : text);
  return { bytes, counts: { deliverable: length }, chargeable: length - repeats.length };
}
