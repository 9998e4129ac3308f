import { placeText } from "./machine.ts";
import { boundText, measuredText, rangeText, shown } from "./print.ts";
import type { Figure, SuiteResult } from "./result.ts";

// Writes the tables of src/docs/capacity.md from the committed results: `bun bench/readme.ts`, or with --print to see them.

const BEGIN = "<!-- bench:begin -->";
const END = "<!-- bench:end -->";
const ROOT = new URL("../", import.meta.url);
const SUITES = ["load", "forms", "peers", "bench"] as const;

/** Results of before rounds had a range leave this column out. */
const RANGE = "least to most";

const tables = tablesOf(await readResults());
if (process.argv.includes("--print")) process.stdout.write(tables);
else await insert(tables);

async function readResults(): Promise<readonly SuiteResult[]> {
  const results: SuiteResult[] = [];
  for (const suite of SUITES) {
    const file = Bun.file(new URL(`bench/results/${suite}.json`, ROOT));
    if (await file.exists()) results.push(await file.json());
  }
  if (results.length === 0) throw new Error("bench/results holds no results");
  return results;
}

function tablesOf(results: readonly SuiteResult[]): string {
  const targets = results.flatMap((result) => result.targets);
  const figures = results.flatMap((result) => result.figures);
  return [
    `Everything (server, DNS server, driver) ran on one machine: ${conditionsOf(results)}.`,
    markdown(
      ["what", "against", "target", "measured", ""],
      targets.map((target) => [
        target.what,
        target.against,
        boundText(target.bound, target.unit),
        `${measuredText(target)}${target.note === "" ? "" : ` (${target.note})`}`,
        target.met ? "met" : "**not met**",
      ]),
    ),
    markdown(
      ["over HTTP", "a second", RANGE, "p50, ms", "p99, ms"],
      figures
        .filter(({ group }) => group.startsWith("batches over HTTP") || group.startsWith("single checks"))
        .filter(({ unit }) => unit.endsWith("/s"))
        .map((figure) => [
          figure.name,
          shown(figure.value),
          rangeText(figure),
          optional(figure.p50),
          optional(figure.p99),
        ]),
    ),
    markdown(
      ["one thread, in process", "calls a second", RANGE, "µs a call"],
      figures
        .filter(({ unit, p50 }) => unit === "calls/s" && p50 !== undefined)
        .map((figure) => [figure.name, shown(figure.value), rangeText(figure), optional(figure.p50)]),
    ),
    markdown(
      ["beside other packages", "a second", RANGE],
      figures.filter(isOfPeers).map((figure) => [figure.name, shown(figure.value), rangeText(figure)]),
    ),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** Where and when each suite was measured; those of one machine and day at once, each with the load before it. */
function conditionsOf(results: readonly SuiteResult[]): string {
  const suitesBy = Map.groupBy(results, ({ machine, at }) => `${placeText(machine)}, on ${at.slice(0, 10)}`);
  return [...suitesBy]
    .map(([place, suites]) => `${place}; load before the run: ${suites.map(loadText).join(", ")}`)
    .join("; ");
}

function loadText({ suite, machine }: SuiteResult): string {
  return `${suite} ${machine.loadBefore.toFixed(2)}`;
}

function isOfPeers({ group }: Figure): boolean {
  return group.startsWith("email addresses, warm") || group.startsWith("documents and phone numbers");
}

function optional(value: number | undefined): string {
  return value === undefined ? "" : shown(value);
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const unused = head.indexOf(RANGE);
  if (unused !== -1 && rows.every((row) => row[unused] === "")) {
    const others = (cells: readonly string[]) => cells.filter((_, column) => column !== unused);
    return markdown(others(head), rows.map(others));
  }
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

async function insert(text: string): Promise<void> {
  const file = Bun.file(new URL("src/docs/capacity.md", ROOT));
  const readme = await file.text();
  const [from, to] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (from === -1 || to < from) throw new Error(`src/docs/capacity.md has no ${BEGIN} with ${END} behind it`);
  await file.write(`${readme.slice(0, from + BEGIN.length)}\n${text}\n${readme.slice(to)}`);
}
