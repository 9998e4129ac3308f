import { type Result, uncheckedReason } from "../tables/task.ts";
import type { ItemRun } from "./arguments.ts";
import type { Verifier } from "./block-verifier.ts";
import { EXIT } from "./failure.ts";

type Sink = { write(text: string): unknown };

/** Checks one item and writes the result; returns the exit code. */
export async function verifyItem(
  { task, item, json }: ItemRun,
  {
    verifier,
    newRunId,
    stdout,
    stderr,
  }: { verifier: Verifier; newRunId: () => string; stdout: Sink; stderr: Sink },
): Promise<number> {
  const { results } = await verifier.verify([item], newRunId());
  const [result] = results;
  if (result === undefined) throw new Error("an item has no result");
  stdout.write(json ? `${JSON.stringify(result)}\n` : resultText(result));
  const trouble = await verifier.trouble();
  if (trouble !== null) stderr.write(`${trouble}\n`);
  return trouble === null && uncheckedReason(task, result) === null ? EXIT.done : EXIT.someUnchecked;
}

/** A field per line. */
function resultText(result: Result): string {
  const names = Object.keys(result);
  const width = Math.max(...names.map((name) => name.length));
  return names.map((name) => `${name.padEnd(width)}  ${valueText(result[name])}\n`).join("");
}

function valueText(value: unknown): string {
  if (value === null) return "–";
  if (value === true) return "yes";
  if (value === false) return "no";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value) && value.every((part) => typeof part === "string")) return value.join(", ") || "–";
  return JSON.stringify(value);
}
