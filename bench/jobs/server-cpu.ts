import { type ThreadSeconds, threadSeconds } from "../load/proc.ts";

/** Measures the CPU that the threads of a server take from now on. */
export function startCpu(pid: number) {
  const before = threadSeconds(pid);
  return {
    /** Returns the microseconds of CPU for each of `count` rows. */
    perRow(count: number): string {
      const now = threadSeconds(pid);
      if (before === null || now === null) return "not known";
      const each = (kind: keyof ThreadSeconds) => ((now[kind] - before[kind]) * 1e6) / count;
      const [main, workers, runtime] = [each("main"), each("workers"), each("runtime")];
      const sum = (main + workers + runtime).toFixed(2);
      return `${sum} µs: main ${main.toFixed(2)}, workers ${workers.toFixed(2)}, runtime ${runtime.toFixed(2)}`;
    },
  };
}
