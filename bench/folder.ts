import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** A folder on the disk that `BENCH_DIR` names, else among temporary files; it goes also where a signal ends the process. */
export type BenchFolder = Disposable & { readonly path: string };

export function openBenchFolder(name: string): BenchFolder {
  const path = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), `assay-${name}-`));
  const remove = () => rmSync(path, { recursive: true, force: true });
  const end = (signal: (typeof SIGNALS)[number]) => process.exit(128 + constants.signals[signal]);
  process.once("exit", remove);
  for (const signal of SIGNALS) process.once(signal, end);
  return {
    path,
    [Symbol.dispose]() {
      process.off("exit", remove);
      for (const signal of SIGNALS) process.off(signal, end);
      remove();
    },
  };
}
