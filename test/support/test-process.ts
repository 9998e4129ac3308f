import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What became of one test file. */
export type FileOutcome = {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
};

/** What became of the files of one process, and what it took. */
export type ProcessOutcome = {
  readonly files: readonly FileOutcome[];
  readonly seconds: number;
  /** Of the process and those that it waited for. */
  readonly cpuSeconds: number;
  /** What it printed. */
  readonly text: string;
};

const TIMEOUT_MS = 600_000;
/** A counterexample, or a run at random that says its seed. */
const FOUND_AT_RANDOM = /Property failed after|\bseed \d+/;
/** What kills and cuts off at random moments. */
const RANDOM_FILES = /^test\/faults\/|chaos|fuzz/;
/** Of a file in a report of Bun; suites within a file are not named like one. */
const SUITE =
  /<testsuite name="(\S+\.test\.ts)" file="[^"]*" tests="(\d+)"[^>]* failures="(\d+)" skipped="(\d+)"/g;

/**
 * Runs test files one after another in one process, in a project's root. Where it broke off, or failed outside of a
 * test, every file of it counts as failed, as nobody knows whose fault that was.
 */
export async function runTestFiles(root: string, files: readonly string[]): Promise<ProcessOutcome> {
  const startedMs = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "assay-tests-"));
  const report = join(folder, "report.xml");
  try {
    const child = Bun.spawn(
      [
        process.execPath,
        "test",
        "--timeout=60000",
        "--reporter=junit",
        `--reporter-outfile=${report}`,
        ...files.map((file) => `./${file}`),
      ],
      { cwd: root, stdout: "pipe", stderr: "pipe", timeout: TIMEOUT_MS },
    );
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    const reported = await readReport(report);
    const outcomes = files.map((file) => reported.get(file) ?? { file, passed: 0, failed: 1, skipped: 0 });
    const counted = Number(/^ *(\d+) fail$/m.exec(err)?.[1] ?? 0);
    const isExplained = counted === outcomes.reduce((total, { failed }) => total + failed, 0);
    const isWhole = isExplained && (child.exitCode === 0 || counted > 0);
    return {
      files: isWhole && !/^ *\d+ errors?$/m.test(err) ? outcomes : outcomes.map(asFailed),
      seconds: (performance.now() - startedMs) / 1000,
      cpuSeconds: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6,
      text: err + out,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether a second try of a file that failed does the same again; `text` is what its process printed. */
export function isRepeatable(file: string, text: string): boolean {
  return !RANDOM_FILES.test(file) && !FOUND_AT_RANDOM.test(text);
}

async function readReport(path: string): Promise<ReadonlyMap<string, FileOutcome>> {
  const report = Bun.file(path);
  const text = (await report.exists()) ? await report.text() : "";
  return new Map(
    [...text.matchAll(SUITE)].map(([, file = "", ...counts]) => {
      const [tests = 0, failed = 0, skipped = 0] = counts.map(Number);
      return [file, { file, passed: tests - failed - skipped, failed, skipped }];
    }),
  );
}

function asFailed(outcome: FileOutcome): FileOutcome {
  return { ...outcome, failed: Math.max(1, outcome.failed) };
}
