import { move, transferableSymbol, valueSymbol } from "piscina";
import { judgeItems } from "../../src/batch/judge.ts";
import type { JudgeTask } from "../../src/batch/messages.ts";
import { splitBatch } from "../../src/batch/split.ts";

/** The tasks of workers/batch.ts with a verifier that verifies nothing: every result is one text of a given size. */

const size = Number(process.env.BENCH_RESULT_BYTES ?? 300);
const json = JSON.stringify({ email: "", padding: "" });
const verdict = {
  json: json.replace(/"}$/, `${"x".repeat(size - json.length)}"}`),
  status: "deliverable",
  chargeable: true,
};
const stub = { judge: () => verdict, checkFailed: () => verdict };

export const split = splitBatch;
export const ping = () => "pong";
export const judge = (task: JudgeTask) => {
  const items: readonly unknown[] = JSON.parse(task.items);
  const outcome = judgeItems(task, items, stub);
  return move({
    get [transferableSymbol]() {
      return [outcome.bytes.buffer];
    },
    get [valueSymbol]() {
      return outcome;
    },
  });
};
