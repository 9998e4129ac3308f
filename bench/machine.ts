import { availableParallelism, cpus, loadavg, totalmem } from "node:os";

/** Where figures were taken: without it they mean nothing. */
export type Machine = {
  readonly cores: number;
  readonly processor: string;
  readonly memoryGb: number;
  readonly system: string;
  readonly bun: string;
  /** Load average of the minute before the run. */
  readonly loadBefore: number;
};

/** Above this share of the cores others are at work, and figures say more about them than about the subject. */
const LOAD_SHARE_MAX = 0.3;

export async function readMachine(): Promise<Machine> {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? "unknown",
    memoryGb: Math.round(totalmem() / 1_073_741_824),
    system: await systemName(),
    bun: Bun.version,
    loadBefore: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  };
}

export function machineLine(machine: Machine): string {
  return `${placeText(machine)}, load ${machine.loadBefore.toFixed(2)} before the run`;
}

/** Returns what stays the same from run to run. */
export function placeText({ cores, processor, memoryGb, system, bun }: Machine): string {
  return `${cores} × ${processor}, ${memoryGb} GB, ${system}, Bun ${bun}`;
}

/** A sentence where the machine is too busy to measure on, or null. */
export function loadWarning({ cores, loadBefore }: Machine): string | null {
  if (loadBefore <= cores * LOAD_SHARE_MAX) return null;
  return `WARNING: the load is ${loadBefore.toFixed(2)} on ${cores} cores: others are at work, and these figures are noise.`;
}

/** Returns 1, 2, 4 and so on, and last all of them. */
export function upToAll(cores: number): readonly number[] {
  const counts: number[] = [];
  for (let count = 1; count < cores; count *= 2) counts.push(count);
  return [...counts, cores];
}

async function systemName(): Promise<string> {
  const text = await Bun.file("/etc/os-release")
    .text()
    .catch(() => "");
  return /^PRETTY_NAME="?([^"\n]+)/m.exec(text)?.[1] ?? process.platform;
}
