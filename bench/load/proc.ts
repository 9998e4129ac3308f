import { dlopen, ptr } from "bun:ffi";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/** What Linux reports of a process; null elsewhere. */

const TICKS_PER_SECOND = 100;

/** Seconds of CPU that a process, and its main thread alone, have used so far. */
export type CpuSeconds = { readonly all: number; readonly mainThread: number };

/**
 * To the nanosecond, by the process's clock and the scheduler's count: `stat` has hundredths of a second, which are 3 % of
 * what a server takes in a round.
 */
export function cpuSeconds(pid: number): CpuSeconds | null {
  try {
    const mainThreadNs = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0];
    return { all: clockSeconds(pid), mainThread: Number(mainThreadNs) / 1e9 };
  } catch {
    return null;
  }
}

let systemClocks: ReturnType<typeof openSystemClocks> | null = null;

function openSystemClocks() {
  return dlopen("libc.so.6", { clock_gettime: { args: ["i32", "ptr"], returns: "i32" } }).symbols;
}

/** Of all threads of a process, also of those that have ended: what clock_getcpuclockid(3) names by its id. */
function clockSeconds(pid: number): number {
  systemClocks ??= openSystemClocks();
  const time = new BigInt64Array(2);
  if (systemClocks.clock_gettime((~pid << 3) | 2, ptr(time)) !== 0) throw new Error(`${pid} has no clock`);
  return Number(time[0]) + Number(time[1]) / 1e9;
}

/** Seconds of CPU by what threads are for: the main one, those that yield to others, and the runtime's own. */
export type ThreadSeconds = { readonly main: number; readonly workers: number; readonly runtime: number };

export function threadSeconds(pid: number): ThreadSeconds | null {
  const sums = { main: 0, workers: 0, runtime: 0 };
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const fields = fieldsOf(`/proc/${pid}/task/${thread}/stat`);
      const kind = thread === `${pid}` ? "main" : Number(fields[16]) > 0 ? "workers" : "runtime";
      sums[kind] += secondsOf(fields);
    }
    return sums;
  } catch {
    return null;
  }
}

/** The fields behind the name, which stands in parentheses and may hold anything. */
function fieldsOf(path: string): readonly string[] {
  const text = readFileSync(path, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** User and system time are the 12th and 13th field behind the name. */
function secondsOf(fields: readonly string[]): number {
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Resident memory now and at its highest, in megabytes. */
export type MemoryMb = { readonly now: number; readonly peak: number };

export function memoryMb(pid: number): MemoryMb | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const field = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
    return { now: field("VmRSS"), peak: field("VmHWM") };
  } catch {
    return null;
  }
}

/** Lets the peak begin anew at what is resident now. */
export function resetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // Without it the peak is that since the start.
  }
}
