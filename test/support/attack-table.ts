import { cpus, loadavg, totalmem } from "node:os";
import { tablesOf } from "./readme.ts";
import type { AttackReport } from "./tenants.ts";

const PAGE = new URL("../../src/docs/faults.md", import.meta.url);
const BLOCK = /(?<=<!-- attacks:begin -->\n)[\s\S]*?(?=<!-- attacks:end -->)/;

export const ATTACK_HEAD = [
  "attack",
  "single checks, p99",
  "batches of 1,000, p99",
  "`/healthz`, longest",
  "memory, most",
  "3 × or 50 ms",
] as const;

/** What the quantiles beside an attack may be, whatever they are alone. */
export type Floors = { readonly singlesMs: number; readonly batchesMs: number };

export const FLOORS: Floors = { singlesMs: 50, batchesMs: 50 };
const RSS_BYTES_MAX = 1_200_000_000;

/** Returns by how much the worse quantile exceeds three times the one alone or its floor: at most 1 is within. */
export function excessOf({ alone, beside }: AttackReport, { singlesMs, batchesMs }: Floors): number {
  return Math.max(
    beside.singlesP99Ms / Math.max(3 * alone.singlesP99Ms, singlesMs),
    beside.batchesP99Ms / Math.max(3 * alone.batchesP99Ms, batchesMs),
  );
}

/**
 * Returns how much slower this machine does the victim's calls alone than the one of the page's table, by the kind of
 * call that differs less; at least 1. Floors are milliseconds of that machine: an attack takes all that a machine has,
 * and what is left for others is as much slower as the machine is.
 */
export async function slownessOf({ singlesP99Ms, batchesP99Ms }: AttackReport["alone"]): Promise<number> {
  const tables = tablesOf(await Bun.file(PAGE).text());
  const table = tables.find(({ head }) => head.join() === ATTACK_HEAD.join());
  const [, singles = "", batches = ""] = table?.rows[0] ?? [];
  const slowness = Math.min(singlesP99Ms / figuresOf(singles)[0], batchesP99Ms / figuresOf(batches)[0]);
  if (Number.isNaN(slowness)) throw new Error(`${PAGE.pathname} has no figures of the victim alone`);
  return Math.max(1, slowness);
}

export const isResidentWithin = (bytes: number) => bytes <= RSS_BYTES_MAX;

/** Returns one row: what is measured alone, and beside the attack. */
export function attackRowOf(report: AttackReport): string[] {
  const { attack, alone, beside } = report;
  const times = (aloneMs: number, besideMs: number) => `${tenths(aloneMs)} ms; ${tenths(besideMs)} ms`;
  return [
    attack,
    times(alone.singlesP99Ms, beside.singlesP99Ms),
    times(alone.batchesP99Ms, beside.batchesP99Ms),
    times(alone.healthzMs, beside.healthzMs),
    `${Math.round(alone.rssBytes / 1e6)} MB; ${Math.round(beside.rssBytes / 1e6)} MB`,
    excessOf(report, FLOORS) <= 1 ? "held" : "**not held**",
  ];
}

/** Returns the figure alone and the one beside an attack of a cell that `attackRowOf` made. */
export function figuresOf(cell: string): readonly [alone: number, beside: number] {
  const [, alone, beside] = /^([\d.]+) (?:ms|MB); ([\d.]+) (?:ms|MB)$/.exec(cell) ?? [];
  return [Number(alone), Number(beside)];
}

const loadBefore = loadavg()[0] ?? 0;

/** Writes what was measured into the page of faults, with how busy the machine was before. */
export async function recordAttacks(reports: readonly AttackReport[]): Promise<void> {
  const lines = [ATTACK_HEAD, ATTACK_HEAD.map(() => "---"), ...reports.map(attackRowOf)];
  const table = lines.map((cells) => `| ${cells.join(" | ")} |`.replace(/ (---) /g, "$1")).join("\n");
  const memoryGib = Math.round(totalmem() / 2 ** 30);
  const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores, ${memoryGib} GiB`;
  const day = new Date().toISOString().slice(0, 10);
  const text = await Bun.file(PAGE).text();
  if (!BLOCK.test(text)) throw new Error(`${PAGE.pathname} has no place for the attacks`);
  await Bun.write(
    PAGE,
    text.replace(
      BLOCK,
      `\nMeasured on ${machine}, on ${day}; its load average was ${loadBefore.toFixed(1)} before.\n\n${table}\n\n`,
    ),
  );
}

const tenths = (value: number) => (value < 10 ? value.toFixed(1) : value.toFixed(0));
