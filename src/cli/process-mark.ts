import { readFileSync } from "node:fs";

/** A process of this machine; its start distinguishes it from a later one of the same number. */
export type ProcessMark = { readonly pid: number; readonly start: string };

const START_FIELD = 19;

/** Returns the mark of a process that runs; null without one, and where the system is not Linux. */
export function processMark(pid: number): ProcessMark | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before it may hold anything, also blanks and brackets.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const start = fields[START_FIELD];
    // A zombie has ended, and writes nothing.
    return start === undefined || fields[0] === "Z" ? null : { pid, start };
  } catch {
    return null;
  }
}

/** Returns whether a mark is of another process that still runs. */
export function isOfOther(mark: ProcessMark): boolean {
  return mark.pid !== process.pid && processMark(mark.pid)?.start === mark.start;
}
