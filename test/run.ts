import { availableParallelism } from "node:os";
import { join } from "node:path";

/**
 * Runs the test files side by side, each file in a process of its own, and prints a summary as its last line.
 * `bun test/run.ts [--slow] [text in a path…]`; exits with 1 where a test failed or a file broke off.
 *
 * `*.timing.test.ts` bound times of a few milliseconds, so they run one after another when all else has ended.
 * `*.slow.test.ts` run with `--slow` only, which is what the gate does.
 */

const ROOT = join(import.meta.dir, "..");
const FILE_TIMEOUT_MS = 600_000;
/** Files that take longest, first: a long one at the end would run alone. */
const LONGEST = ["faults/", "cli/", "house/", "store/", "api/", "billing/"];

type Outcome = {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
};

/** Runs one file and prints what it printed, if a test of it failed or was skipped. */
async function runFile(file: string): Promise<Outcome> {
  const startedMs = performance.now();
  const child = Bun.spawn([process.execPath, "test", "--timeout", "60000", `./${file}`], {
    cwd: ROOT,
    stdout: "pipe",
    stderr: "pipe",
    timeout: FILE_TIMEOUT_MS,
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const text = err + out;
  const count = (word: string) => Number(new RegExp(`^ *(\\d+) ${word}$`, "m").exec(text)?.[1] ?? 0);
  const brokeOff = child.exitCode !== 0 && count("fail") === 0;
  const seconds = (performance.now() - startedMs) / 1000;
  const failed = count("fail") + (brokeOff ? 1 : 0);
  const skipped = count("skip");
  if (failed > 0) process.stdout.write(`${text}\n`);
  else if (skipped > 0) process.stdout.write(`${linesOf(text, /skip/i)}\n`);
  const mark = failed > 0 ? "FAIL" : "pass";
  process.stdout.write(`${mark} ${file}: ${count("pass")} passed in ${seconds.toFixed(1)} s\n`);
  return { file, passed: count("pass"), failed, skipped, seconds };
}

function linesOf(text: string, pattern: RegExp): string {
  return text
    .split("\n")
    .filter((line) => pattern.test(line))
    .join("\n");
}

async function runAll(files: readonly string[], lanes: number): Promise<Outcome[]> {
  const waiting = files.values();
  const outcomes: Outcome[] = [];
  const lane = async () => {
    for (const file of waiting) outcomes.push(await runFile(file));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return outcomes;
}

function rank(file: string): number {
  const found = LONGEST.findIndex((folder) => file.startsWith(`test/${folder}`));
  return found === -1 ? LONGEST.length : found;
}

const args = process.argv.slice(2);
const wanted = args.filter((argument) => !argument.startsWith("--"));
const withSlow = args.includes("--slow") || wanted.length > 0;
const files = [...new Bun.Glob("test/**/*.test.ts").scanSync({ cwd: ROOT })]
  .filter((file) => !file.includes("node_modules"))
  .filter((file) => wanted.length === 0 || wanted.some((text) => file.includes(text)))
  .filter((file) => withSlow || !file.endsWith(".slow.test.ts"))
  .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
const isTiming = (file: string) => file.endsWith(".timing.test.ts");
const startedMs = performance.now();
const outcomes = [
  ...(await runAll(
    files.filter((file) => !isTiming(file)),
    Math.max(2, availableParallelism()),
  )),
  ...(await runAll(files.filter(isTiming), 1)),
];
const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + of(outcome), 0);
const failed = sum((outcome) => outcome.failed);
for (const outcome of outcomes.filter((one) => one.failed > 0)) console.log(`FAIL ${outcome.file}`);
const seconds = Math.round((performance.now() - startedMs) / 1000);
console.log(`${outcomes.length} files in ${seconds} s`);
console.log(
  `${sum((outcome) => outcome.passed)} passed, ${failed} failed, ${sum((outcome) => outcome.skipped)} skipped`,
);
process.exit(failed > 0 || outcomes.length === 0 ? 1 : 0);
