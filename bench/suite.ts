import { parseArgs } from "node:util";
import { version } from "../package.json" with { type: "json" };
import { loadWarning, machineLine, readMachine } from "./machine.ts";
import { figuresTables, shown, targetsTable } from "./print.ts";
import { missingFigures, type SuiteResult, slowdowns } from "./result.ts";

export type SuiteOptions = {
  readonly quick: boolean;
  /** What every duration is multiplied with. */
  readonly scale: number;
  /** What the command line names beside its options. */
  readonly words: readonly string[];
  /** Cores that servers are kept on; null: all. */
  readonly cores: number | null;
  /** Progress and findings for those who watch. */
  readonly say: (line: string) => void;
};

export type SuiteFindings = Pick<SuiteResult, "figures" | "targets"> & {
  readonly versions?: SuiteResult["versions"];
};

/** A quick run takes a tenth of the time; who only wants to see that it runs may say less by BENCH_QUICK_SCALE. */
const QUICK_SCALE = Number(process.env.BENCH_QUICK_SCALE ?? 0.1);
const SLOWDOWN_MAX_PERCENT = 20;

/** Returns 1 for a whole run and for a tenth of one; less for what only shows that all runs, and finds no figure. */
export function shareOfTenth(scale: number): number {
  return Math.min(1, scale * 10);
}

/**
 * Runs a suite from the command line: looks at the load first, prints what was found, writes `--json FILE`, and
 * with `--compare FILE` exits with 1 where a figure is more than `--threshold` percent worse, or missing. A missed target is
 * printed and does not fail the run: it depends on the machine.
 */
export async function runSuite(
  suite: string,
  measure: (options: SuiteOptions) => Promise<SuiteFindings>,
): Promise<void> {
  const { values, positionals: words } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: "boolean", default: false },
      cores: { type: "string" },
      json: { type: "string" },
      compare: { type: "string" },
      threshold: { type: "string", default: `${SLOWDOWN_MAX_PERCENT}` },
    },
  });
  const { quick } = values;
  const thresholdPercent = readThreshold(values.threshold);
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  const machine = await readMachine();
  say(`${suite}${quick ? " (quick: a tenth of the time)" : ""}: ${machineLine(machine)}`);
  const warning = loadWarning(machine);
  if (warning !== null) say(warning);
  if (quick && QUICK_SCALE < 0.1)
    say("Only to see that it runs: the largest batches have fewer items than their names say.");
  const cores = values.cores === undefined ? null : readCores(values.cores, machine.cores);
  const startedMs = performance.now();
  const { versions: more = {}, ...found } = await measure({
    quick,
    scale: quick ? QUICK_SCALE : 1,
    words,
    cores,
    say,
  });
  const versions = { assay: version, ...more };
  const at = new Date().toISOString();
  const result: SuiteResult = { suite, at, quick, machine, versions, ...found };
  say(`\n${figuresTables(result)}`);
  if (result.targets.length > 0) say(`\n${targetsTable(result.targets)}`);
  say(
    `\nversions: ${Object.entries(versions)
      .map(([name, number]) => `${name} ${number}`)
      .join(", ")}`,
  );
  say(`${suite} took ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
  if (values.compare !== undefined) await compare(values.compare, result, thresholdPercent, say);
  // Last, so that a run can be compared with the file that it replaces.
  if (values.json !== undefined) await Bun.write(values.json, `${JSON.stringify(result, null, 2)}\n`);
}

function readThreshold(text: string): number {
  const percent = Number(text);
  if (!Number.isFinite(percent) || percent < 0)
    throw new Error(`--threshold: a number of percent, not ${text}`);
  return percent;
}

function readCores(text: string, all: number): number {
  const cores = Number(text);
  if (!Number.isInteger(cores) || cores < 1 || cores > all)
    throw new Error(`--cores: 1 to ${all}, not ${text}`);
  return cores;
}

async function compare(
  path: string,
  now: SuiteResult,
  thresholdPercent: number,
  say: (line: string) => void,
): Promise<void> {
  const before: SuiteResult = await Bun.file(path).json();
  if (before.machine.processor !== now.machine.processor || before.machine.cores !== now.machine.cores) {
    say(`WARNING: ${path} comes from another machine.`);
  }
  if (before.quick !== now.quick) say(`WARNING: one of the two runs was a quick one.`);
  const worse = slowdowns(before, now, thresholdPercent / 100);
  for (const { name, before: was, now: is, change } of worse) {
    say(`slower by ${(change * 100).toFixed(0)} %: ${name}, ${shown(was)} before, ${shown(is)} now`);
  }
  const missing = missingFigures(before, now);
  for (const name of missing) say(`not measured now: ${name}`);
  if (worse.length + missing.length > 0) process.exitCode = 1;
  else say(`nothing is more than ${thresholdPercent} % slower than in ${path}`);
}
