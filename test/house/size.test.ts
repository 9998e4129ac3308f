import { expect, test } from "bun:test";
import { join } from "node:path";

/** Files fit a sitting and functions a screen, but for those that are one thing all the same. */

const ROOT = join(import.meta.dir, "../..");
const FILE_LINES_MAX = 200;
const FUNCTION_LINES_MAX = 60;

/** Long files that are one thing each: a table, a list of settings or tests of speed, one flow that is read together. */
const LONG_FILES: readonly string[] = [
  "bench/load/plan-scenarios.ts",
  "bench/load/singles.ts",
  "src/accounts/key-ring.ts",
  "src/app/settings.ts",
  "src/batch/fair-queue.ts",
  "src/billing/charge-log.ts",
  "src/billing/idempotency.ts",
  "src/billing/meter.ts",
  "src/billing/shared-charge-log.ts",
  "src/contract/errors.ts",
  "src/contract/specification/document/written-operation.ts",
  "src/directory/directory.ts",
  "src/directory/sync/state-folder.ts",
  "src/dns/udp-channel.ts",
  "src/domains/facts.ts",
  "src/http/batch-handler.ts",
  "src/http/bodies/body-reader.ts",
  "src/http/routes/directory.ts",
  "src/inference/relay.ts",
  "src/inference/tasks.ts",
  "src/jobs/job-runner.ts",
  "src/jobs/uploads/uploads.ts",
  "src/judge/judgement.ts",
  "src/payments/payments.ts",
  "src/store/postgres/connection/connection.ts",
  "src/store/postgres/schema.ts",
  "src/store/sqlite/schema.ts",
  "src/tools/data-refresh/gibberish-table.ts",
  "src/verification/email/gibberish-measures.ts",
  "src/verification/email/mail-domain.ts",
  "src/verification/email/verification.ts",
];

/** Lists of prepared statements are as long as there are statements. */
const STATEMENTS = /^src\/store\/sqlite\/(?:[\w-]+\/)*[\w-]+-(?:statements|store)\.ts$/;
/** Other long functions: lists of methods, and an inner loop that calls would slow down. */
const LONG_FUNCTIONS: readonly string[] = [
  "src/billing/meter.ts: meterOn",
  "src/billing/shared-charge-log.ts: createSharedChargeLog",
  "src/client/client.ts: createClient",
  "src/store/sqlite/connection/connection.ts: createConnection",
  "src/verification/email/gibberish-measures.ts: readLocal",
];

type Source = { readonly file: string; readonly lines: readonly string[] };
type Span = { readonly name: string; readonly start: number; readonly end: number };

const OPENING =
  /^(?:export )?(?:default )?(?:async )?function\*? (\w+).*[^;]$|^(?:export )?const (\w+)\b[^=]*= (?:async )?\($|^(?:export )?const (\w+)\b.*=> \{$|^(?:async )?\*?(\w+)\([^;]*(?:\{|\()$|^(?:return )?(?:async )?\([^;]*=> \{$/;
const STATEMENT = /^(?:if|for|while|switch|catch|using|await)\b/;
const CLOSING = /^\}[)\],;]*$/;
/** The end of a signature without a body: an overload. */
const OVERLOAD = /^\)[^{]*;$/;

const indentOf = (line: string) => line.length - line.trimStart().length;

/** Returns the functions of a formatted file: each ends at the first closing brace of its own indentation. */
function functionsIn(lines: readonly string[]): Span[] {
  return lines.flatMap((line, start) => {
    const text = line.trim();
    const match = STATEMENT.test(text) ? null : OPENING.exec(text);
    if (match === null) return [];
    const indent = indentOf(line);
    const end = lines.findIndex(
      (other, at) =>
        at > start &&
        indentOf(other) === indent &&
        (CLOSING.test(other.trim()) || OVERLOAD.test(other.trim())),
    );
    const name = match.slice(1).find((found) => found !== undefined) ?? "a function without a name";
    return end === -1 || OVERLOAD.test(lines[end]?.trim() ?? "") ? [] : [{ name, start, end }];
  });
}

/** Returns the lines of a function without those of the functions inside of it. */
function ownLines({ start, end }: Span, all: readonly Span[]): number {
  const inside = all.filter((other) => other.start > start && other.end < end);
  const outermost = inside.filter(
    (span) => !inside.some((other) => other.start < span.start && other.end > span.end),
  );
  return outermost.reduce((left, span) => left - (span.end - span.start + 1), end - start + 1);
}

const files = [...new Bun.Glob("{src,workers,bench}/**/*.{ts,tsx}").scanSync({ cwd: ROOT })]
  .filter((file) => !file.includes("node_modules"))
  .toSorted();
const sources: readonly Source[] = await Promise.all(
  files.map(async (file) => ({ file, lines: (await Bun.file(join(ROOT, file)).text()).split("\n") })),
);

test("a file has at most 200 lines, unless it is one thing", () => {
  expect(sources.length).toBeGreaterThan(1_000);
  const long = sources.filter(({ lines }) => lines.length - 1 > FILE_LINES_MAX).map(({ file }) => file);
  expect(long.filter((file) => !LONG_FILES.includes(file))).toEqual([]);
  expect(LONG_FILES.filter((file) => !sources.some((source) => source.file === file))).toEqual([]);
});

test("a function has at most 60 lines of its own, unless it is a list", () => {
  const counted = sources.filter(({ file }) => !STATEMENTS.test(file));
  const long = counted.flatMap(({ file, lines }) => {
    const all = functionsIn(lines);
    return all
      .filter((span) => ownLines(span, all) > FUNCTION_LINES_MAX)
      .map(({ name }) => `${file}: ${name}`);
  });
  expect(long.filter((name) => !LONG_FUNCTIONS.includes(name))).toEqual([]);
  expect(LONG_FUNCTIONS.filter((name) => !long.includes(name))).toEqual([]);
});

test("the lines of a function are counted without those of its inner functions", () => {
  const lines = [
    "function outer() {",
    "  const a = 1;",
    "  function inner() {",
    "    return a;",
    "  }",
    "  return inner;",
    "}",
  ];
  const all = functionsIn(lines);
  expect(all.map((span) => [span.name, ownLines(span, all)])).toEqual([
    ["outer", 4],
    ["inner", 3],
  ]);
});
