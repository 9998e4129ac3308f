import { readdirSync, readFileSync } from "node:fs";
import { cpuSeconds } from "../load/proc.ts";

/** Microseconds of CPU for each item. */
export type CpuUse = { readonly servers: number; readonly postgres: number };

/** Counts the CPU of servers, and of the PostgreSQL that listens at a port, from its making on. */
export function createCpuMeter(pids: readonly number[], postgresPort: number) {
  const serversBefore = sum(pids);
  const postgresBefore = usedByPostgres(postgresPort);
  return {
    perItem(count: number): CpuUse {
      const micros = (seconds: number) => (seconds * 1e6) / count;
      return {
        servers: micros(sum(pids) - serversBefore),
        postgres: micros(usedByPostgres(postgresPort) - postgresBefore),
      };
    },
  };
}

const sum = (pids: readonly number[]): number =>
  pids.reduce((all, pid) => all + (cpuSeconds(pid)?.all ?? Number.NaN), 0);

/** Connections that ended meanwhile are in the count of the first process, which waits for them. */
function usedByPostgres(port: number): number {
  const first = readdirSync("/proc").find((pid) => {
    return (
      /^\d+$/.test(pid) &&
      read(`/proc/${pid}/cmdline`).includes(`postgres\0-D`) &&
      read(`/proc/${pid}/cmdline`).includes(`\0-p\0${port}\0`)
    );
  });
  if (first === undefined) return Number.NaN;
  const children = read(`/proc/${first}/task/${first}/children`).trim().split(" ");
  return sum([first, ...children].filter((pid) => pid !== "").map(Number));
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
