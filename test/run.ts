import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { isRepeatable, type ProcessOutcome, runTestFiles } from "./support/test-process.ts";

/**
 * Runs the test files in processes side by side and prints a summary as its last line.
 * `bun test/run.ts [--slow] [text in a path…]`; exits with 1 where a test failed or a process broke off.
 *
 * Files of one folder share a process, a few at a time, as each process loads and compiles the code anew. Slow ones do not, as they watch what a process takes or would hold up the rest of their group.
 * `*.timing.test.ts` bound times of a few milliseconds, so they run one after another when all else has ended. Where a
 * few files failed, they are tried once more at the very end, each alone: what else the machine does can only lengthen
 * what they wait for. Both tries are printed, and so is that there were two. What was found at random stands: another
 * try would draw something else.
 * `*.slow.test.ts` and `*.slow.timing.test.ts` run with `--slow` only, which is what the gate does.
 */

const ROOT = join(import.meta.dir, "..");
/** More would leave the last group running alone. */
const GROUP_FILES_MAX = 6;
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

const sum = <Of>(all: readonly Of[], of: (one: Of) => number) =>
  all.reduce((total, one) => total + of(one), 0);
const isTiming = (file: string) => file.endsWith(".timing.test.ts");
const isSlow = (file: string) => file.includes(".slow.");

/** What a test says of what it leaves out, also where it passes without it, and of its seed. */
const TOLD = /\b(?:is|are) (?:not tested|skipped)|SKIPPED|, seed \d+$/;

/** Runs a group and prints what it printed, if a test of it failed; what it left out and its seeds in any case. */
async function runGroup(group: readonly string[]): Promise<ProcessOutcome> {
  const outcome = await runTestFiles(ROOT, group);
  const { files, seconds, cpuSeconds, text } = outcome;
  const hasFailed = files.some(({ failed }) => failed > 0);
  if (hasFailed) process.stdout.write(`${text}\n`);
  else {
    const pattern = files.some(({ skipped }) => skipped > 0) ? /skip|, seed \d+$/i : TOLD;
    const told = linesOf(text, pattern);
    if (told !== "") process.stdout.write(`${told}\n`);
  }
  for (const { file, passed, failed } of files) {
    process.stdout.write(`${failed > 0 ? "FAIL" : "pass"} ${file}: ${passed} passed`);
    if (file !== files.at(-1)?.file) process.stdout.write("\n");
  }
  process.stdout.write(
    `${files.length > 1 ? `; the ${files.length} together` : ""} in ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of CPU\n`,
  );
  return outcome;
}

function linesOf(text: string, pattern: RegExp): string {
  return text
    .split("\n")
    .filter((line) => pattern.test(line))
    .join("\n");
}

async function runAll(groups: readonly (readonly string[])[], lanes: number): Promise<ProcessOutcome[]> {
  const waiting = groups.values();
  const outcomes: ProcessOutcome[] = [];
  const lane = async () => {
    for (const group of waiting) outcomes.push(await runGroup(group));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return outcomes;
}

/** Where more of them have failed it is not the machine. */
const SECOND_TRIES_MAX = 6;

/** Runs files that failed once more, one after another. */
async function tryAgain(processes: readonly ProcessOutcome[]): Promise<readonly ProcessOutcome[]> {
  const failed = processes.flatMap((one) =>
    one.files
      .filter(({ file, failed: count }) => count > 0 && isRepeatable(file, one.text))
      .map(({ file }) => file),
  );
  if (failed.length === 0 || failed.length > SECOND_TRIES_MAX) return [];
  process.stdout.write(`Tried a second time, each alone: ${failed.join(", ")}\n`);
  const ran = await runAll(
    failed.map((file) => [file]),
    1,
  );
  for (const { file, failed: left } of ran.flatMap(({ files }) => files)) {
    process.stdout.write(
      `tried twice: ${file} ${left > 0 ? "failed both times" : "passed the second time"}\n`,
    );
  }
  return ran;
}

/** Returns a file's place among the longest. */
function rank(file: string): number {
  const found = LONGEST.findIndex((name) => file.startsWith(`test/${name}`));
  return found === -1 ? LONGEST.length : found;
}

/** Puts neighbours of one folder together; the order stays. */
function grouped(files: readonly string[]): readonly (readonly string[])[] {
  const groups: string[][] = [];
  for (const file of files) {
    const group = groups.at(-1);
    const [first] = group ?? [];
    const joins =
      group !== undefined &&
      first !== undefined &&
      group.length < GROUP_FILES_MAX &&
      areNeighbours(first, file);
    if (joins) group.push(file);
    else groups.push([file]);
  }
  return groups;
}

function areNeighbours(one: string, other: string): boolean {
  return dirname(one) === dirname(other) && !isSlow(one) && !isSlow(other);
}

const args = process.argv.slice(2);
const wanted = args.filter((argument) => !argument.startsWith("--"));
const withSlow = args.includes("--slow") || wanted.length > 0;
const files = [...new Bun.Glob("test/**/*.test.ts").scanSync({ cwd: ROOT })]
  .filter((file) => !file.includes("node_modules"))
  .filter((file) => wanted.length === 0 || wanted.some((text) => file.includes(text)))
  .filter((file) => withSlow || !isSlow(file))
  .sort((a, b) => rank(a) - rank(b) || Number(isSlow(b)) - Number(isSlow(a)) || a.localeCompare(b));
const startedMs = performance.now();
const sideBySide = await runAll(grouped(files.filter((file) => !isTiming(file))), LANES);
const alone = await runAll(
  files.filter(isTiming).map((file) => [file]),
  1,
);
const first = [...sideBySide, ...alone];
const processes = [...first, ...(await tryAgain(first))];
// Of a file that was tried twice the last outcome counts.
const lastOf = new Map(processes.flatMap((one) => one.files).map((outcome) => [outcome.file, outcome]));
const outcomes = [...lastOf.values()];
const failed = sum(outcomes, (outcome) => outcome.failed);
for (const outcome of outcomes.filter((one) => one.failed > 0)) console.log(`FAIL ${outcome.file}`);
const seconds = Math.round((performance.now() - startedMs) / 1000);
const cpuSeconds = Math.round(sum(processes, (one) => one.cpuSeconds));
console.log(`${outcomes.length} files in ${seconds} s, ${cpuSeconds} s of CPU`);
console.log(
  `${sum(outcomes, (outcome) => outcome.passed)} passed, ${failed} failed, ${sum(outcomes, (outcome) => outcome.skipped)} skipped`,
);
process.exit(failed > 0 || outcomes.length === 0 ? 1 : 0);
