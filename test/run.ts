import { availableParallelism } from "node:os";
import { join } from "node:path";

/**
 * Runs the test files side by side, each file in a process of its own, and prints a summary as its last line.
 * `bun test/run.ts [--slow] [text in a path…]`; exits with 1 where a test failed or a file broke off.
 *
 * `*.timing.test.ts` bound times of a few milliseconds, so they run one after another when all else has ended. Where a
 * few files failed, they are tried once more at the very end, each alone: what else the machine does can only lengthen
 * what they wait for. Both tries are printed, and so is that there were two.
 * `*.slow.test.ts` and `*.slow.timing.test.ts` run with `--slow` only, which is what the gate does.
 */

const ROOT = join(import.meta.dir, "..");
const FILE_TIMEOUT_MS = 600_000;
/**
 * What takes long, first, as a long one at the end would run alone; the rest in the order of its names. The benchmarks
 * of the first take every core for minutes: beside it run files that bound no time.
 */
const LONGEST = [
  "house/readme-benches.",
  "house/readme-commands.",
  "house/readme-blocks.",
  "cli/",
  "directory/former-snapshots.",
  "api/docs-in-browser.",
  "console/",
  "tools/",
  "client/",
  "contract/",
  "house/",
  "faults/",
  "cluster/",
  "billing/",
  "scan/",
  "payments/",
  "inference/",
  "webhooks/",
  "api/",
];

/** One more than there are cores: files wait for others, and for their own deadlines, a third of their time. */
const LANES = availableParallelism() + 1;

type Outcome = {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
  /** Of the file's process and those that it waited for. */
  readonly cpuSeconds: number;
};

/** What a run at random says of itself, so that it can be repeated. */
const SEED = /, seed \d+$/m;

/** Runs one file and prints what it printed, if a test of it failed or was skipped, and its seed in any case. */
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
  const cpuSeconds = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
  const failed = count("fail") + (brokeOff ? 1 : 0);
  const skipped = count("skip");
  if (failed > 0) process.stdout.write(`${text}\n`);
  else if (skipped > 0) process.stdout.write(`${linesOf(text, /skip/i)}\n`);
  else if (SEED.test(text)) process.stdout.write(`${linesOf(text, SEED)}\n`);
  const mark = failed > 0 ? "FAIL" : "pass";
  process.stdout.write(
    `${mark} ${file}: ${count("pass")} passed in ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of CPU\n`,
  );
  return { file, passed: count("pass"), failed, skipped, seconds, cpuSeconds };
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

/** Where more of them have failed it is not the machine. */
const SECOND_TRIES_MAX = 6;

/** Runs files that failed once more, one after another. Returns the last outcome of each file. */
async function tryAgain(outcomes: readonly Outcome[]): Promise<readonly Outcome[]> {
  const failed = outcomes.filter((one) => one.failed > 0).map(({ file }) => file);
  if (failed.length === 0 || failed.length > SECOND_TRIES_MAX) return outcomes;
  process.stdout.write(`Tried a second time, each alone: ${failed.join(", ")}\n`);
  const again = await runAll(failed, 1);
  for (const { file, failed: left } of again) {
    process.stdout.write(
      `tried twice: ${file} ${left > 0 ? "failed both times" : "passed the second time"}\n`,
    );
  }
  return [...outcomes.filter(({ file }) => !failed.includes(file)), ...again];
}

/** Returns a file's place among the longest. */
function rank(file: string): number {
  const found = LONGEST.findIndex((name) => file.startsWith(`test/${name}`));
  return found === -1 ? LONGEST.length : found;
}

const args = process.argv.slice(2);
const wanted = args.filter((argument) => !argument.startsWith("--"));
const withSlow = args.includes("--slow") || wanted.length > 0;
const files = [...new Bun.Glob("test/**/*.test.ts").scanSync({ cwd: ROOT })]
  .filter((file) => !file.includes("node_modules"))
  .filter((file) => wanted.length === 0 || wanted.some((text) => file.includes(text)))
  .filter((file) => withSlow || !file.includes(".slow."))
  .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
const isTiming = (file: string) => file.endsWith(".timing.test.ts");
const startedMs = performance.now();
const outcomes = await tryAgain([
  ...(await runAll(
    files.filter((file) => !isTiming(file)),
    LANES,
  )),
  ...(await runAll(files.filter(isTiming), 1)),
]);
const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + of(outcome), 0);
const failed = sum((outcome) => outcome.failed);
for (const outcome of outcomes.filter((one) => one.failed > 0)) console.log(`FAIL ${outcome.file}`);
const seconds = Math.round((performance.now() - startedMs) / 1000);
const cpuSeconds = Math.round(sum((outcome) => outcome.cpuSeconds));
console.log(`${outcomes.length} files in ${seconds} s, ${cpuSeconds} s of CPU`);
console.log(
  `${sum((outcome) => outcome.passed)} passed, ${failed} failed, ${sum((outcome) => outcome.skipped)} skipped`,
);
process.exit(failed > 0 || outcomes.length === 0 ? 1 : 0);
