import { readFileSync } from "node:fs";

/** What keeps a process on some of the cores; nothing where the system has no `taskset`. */
const TASKSET = Bun.which("taskset");
/** The numbers of the cores that this process may use, as it was started; null where the system does not say. */
const ALLOWED = allowedCores();

/** Returns the start of a command that runs on the first `count` cores. */
export function onFirstCores(count: number | null): readonly string[] {
  if (TASKSET === null || ALLOWED === null || count === null) return [];
  return [TASKSET, "-c", ALLOWED.slice(0, count).join(",")];
}

/** Keeps this process, and all that it starts from now on, off the first `count` cores, where there are others. */
export function leaveFirstCores(count: number): void {
  const others = ALLOWED?.slice(count) ?? [];
  if (TASKSET === null || others.length === 0) return;
  Bun.spawnSync([TASKSET, "-a", "-p", "-c", others.join(","), `${process.pid}`]);
}

/** Reads a list such as `0-3,8`. */
function allowedCores(): readonly number[] | null {
  let status: string;
  try {
    status = readFileSync("/proc/self/status", "utf8");
  } catch {
    return null;
  }
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1];
  if (list === undefined) return null;
  return list.split(",").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  });
}
