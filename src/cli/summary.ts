import { FIELDS_NOTED_MAX } from "../tables/rows.ts";
import { KINDS, type Task } from "../tables/task.ts";
import { counted, durationText, grouped } from "./progress.ts";
import type { WrittenState } from "./run-ledger.ts";
import { type Tally, uncheckedCount } from "./tally.ts";

/** The figures for the summary of a run. */
export type RunFacts = {
  readonly task: Task;
  readonly tally: Tally;
  /** Rows of this run, without those of an earlier one, and how long they took. */
  readonly rows: number;
  readonly seconds: number;
  readonly outputName: string;
  readonly isServer: boolean;
};

/** Returns the counts by status, the speed, and what may be worth a second run. */
export function summaryText({ task, tally, rows, seconds, outputName, isServer }: RunFacts): string {
  const perSecond = seconds > 0 ? ` (${grouped(Math.round(rows / seconds))}/s)` : "";
  const before = tally.rows - rows;
  const lines = [
    `${counted(rows, "row")} in ${seconds < 10 ? `${seconds.toFixed(1)} s` : durationText(seconds)}${perSecond}`,
    ...(before > 0 ? [`${counted(before, "row")} of the run before, ${grouped(tally.rows)} in all`] : []),
    ...KINDS[task.kind].statuses.map((status) => statusLine(status, tally)),
    `${counted(tally.written, "row")} written to ${outputName}`,
  ];
  if (isServer) lines.push(`${counted(tally.unitsCharged, "unit")} charged`);
  const unchecked = uncheckedCount(tally);
  if (unchecked > 0) {
    const reasons = Object.entries(tally.unchecked).map(([reason, count]) => `${reason} ${grouped(count)}`);
    lines.push(
      `${grouped(unchecked)} could not be checked (${reasons.join(", ")}): try ${unchecked === 1 ? "it" : "them"} again later`,
    );
  }
  return `${lines.join("\n")}\n`;
}

function statusLine(status: string, tally: Tally): string {
  const count = tally.statuses[status] ?? 0;
  const share = tally.rows === 0 ? 0 : (100 * count) / tally.rows;
  return `  ${status.padEnd(14)}${grouped(count).padStart(11)}${`${share.toFixed(1)}%`.padStart(8)}`;
}

/** Names the fields of NDJSON that a CSV leaves out, on a line; empty without any. */
export function leftOutText(inputName: string, fields: readonly string[]): string {
  if (fields.length === 0) return "";
  const names = fields.map((field) => JSON.stringify(field)).join(", ");
  const more = fields.length === FIELDS_NOTED_MAX ? " and perhaps more" : "";
  return `${inputName} has fields that its first line lacks, which the CSV leaves out: ${names}${more}. Put a line with all fields first, or write NDJSON.\n`;
}

/** Describes what an interrupted run leaves, and how to resume it. `isChosen`: only some statuses are written. */
export function stoppedText(
  state: WrittenState,
  output: { readonly name: string; readonly isChosen: boolean },
): string {
  const done = writtenText(state, output);
  const torn = state.isTorn ? ", and a part of the next ones" : "";
  if (state.savedRows === null) return `${done}${torn}.`;
  const place = state.savedRows === state.rows ? "from there" : `after row ${grouped(state.savedRows)}`;
  return `${done}${torn}; the same command with --resume goes on ${place}.`;
}

function writtenText(
  { rows, written, bytes, savedRows }: WrittenState,
  { name, isChosen }: { readonly name: string; readonly isChosen: boolean },
): string {
  if (rows === 0) return bytes === 0 ? "Nothing was written" : `Only the header was written to ${name}`;
  const results = isChosen
    ? `${counted(written, "result")} of ${counted(rows, "row")}`
    : `The results of ${counted(rows, "row")}`;
  const isOne = isChosen && written === 1;
  if (savedRows === null) return `${results} ${isOne ? "was" : "were"} written`;
  return `${results} ${isOne ? "is" : "are"} in ${name}`;
}
