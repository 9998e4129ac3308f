import { setPriority } from "node:os";

/**
 * Lowers the priority of the thread that calls, from 0 to 19, so that the main thread comes before it wherever there
 * are more threads than cores. Does nothing but on Linux, which keeps priorities by thread: elsewhere the whole process
 * would be slowed.
 */
export function yieldThread(priority: number): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, priority);
  } catch {
    // Not permitted: then the scheduler decides alone.
  }
}
