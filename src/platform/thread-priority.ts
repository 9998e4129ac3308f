import { setPriority } from "node:os";

/**
 * Raises the nice value of the calling thread, 0 to 19, so that the main thread is preferred when there are more threads
 * than cores. Works on Linux alone, where it applies to a thread; elsewhere it would slow the whole process.
 */
export function yieldThread(priority: number): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, priority);
  } catch {
    // Not permitted: the priority stays.
  }
}
