import { nounOf } from "../../src/contract/noun.ts";
import { shown } from "../print.ts";
import { type Demand, INPUTS, shownNumber } from "./demand.ts";
import type { Plan } from "./plan.ts";

/** What is said of a demand and of its plan, as pairs of words and values. */
export type Row = readonly [what: string, value: string];

export function demandRows(demand: Demand): Row[] {
  return INPUTS.map((input) => [
    input.label,
    `${shownNumber(input, demand[input.key]).toLocaleString("en")} ${input.unit}`.trim(),
  ]);
}

/** Returns the command that makes the plan of this demand. */
export function commandOf(demand: Demand): string {
  const options = INPUTS.filter(({ key, initial }) => demand[key] !== initial);
  return ["bun run bench:capacity", ...options.map(({ option, key }) => `--${option} ${demand[key]}`)].join(
    " ",
  );
}

export function planRows(demand: Demand, plan: Plan): Row[] {
  const { nextMillion } = plan;
  return [
    ["Cores", `${count(plan.cores)} (${shown(plan.coresBusyAtPeak)} busy in the busiest second)`],
    ["How far a core may be filled", `${percent(plan.fillMax)}, by ${plan.limit}`],
    ["Free in the busiest second", percent(plan.headroom)],
    ["Memory, a quarter of it spare", megabytes(plan.memoryMb)],
    ["Processes, each with a data directory of its own", count(plan.processes)],
    ["WORKER_THREADS of each", count(plan.threadsPerProcess)],
    ["Addresses in the average second", shown(plan.averagePerSecond)],
    ["Addresses of calls in the busiest second", shown(plan.peakPerSecond)],
    ["Rows of jobs, spread over the day", `${shown(plan.jobRowsPerSecond)} a second`],
    ["Batches at a time", count(plan.parallelBatches)],
    ...moreRows(demand, plan),
    ["Knee of the curve", kneeText(plan)],
    [
      "One more million addresses",
      `${shown(nextMillion.cpuSeconds)} s of CPU, ${nextMillion.usd.toFixed(4)} USD at ${demand.coreHourUsd} USD a core hour`,
    ],
  ];
}

const NOT_MEASURED = "not in this load result: run bench:load again";

function moreRows({ jobDaysKept }: Demand, { more }: Plan): Row[] {
  const value = (text: (of: NonNullable<typeof more>) => string) =>
    more === null ? NOT_MEASURED : text(more);
  return [
    [
      "DNS queries in the busiest second",
      value(({ dnsQueriesPerSecond }) => `${shown(dnsQueriesPerSecond)} a second`),
    ],
    [
      "Network in, busiest second",
      value(({ receivedMbitPerSecond }) => `${shown(receivedMbitPerSecond)} Mbit/s`),
    ],
    [
      "Network out, busiest second",
      value(
        ({ sentMbitPerSecond, sentGzipMbitPerSecond }) =>
          `${shown(sentMbitPerSecond)} Mbit/s; ${shown(sentGzipMbitPerSecond)} where callers take gzip`,
      ),
    ],
    ["Disk: charges, kept for good", value(({ chargesMbPerDay }) => `${megabytes(chargesMbPerDay)} a day`)],
    [
      `Disk: jobs, each kept for ${jobDaysKept} ${nounOf(jobDaysKept, "day")}`,
      value(({ jobsMb }) => `${megabytes(jobsMb)} at any time`),
    ],
  ];
}

function kneeText({ knee }: Plan): string {
  if (knee === null) return "not met";
  return `${shown(knee.offeredPerSecond)} single calls a second (${percent(knee.share)} of flat out), p99 ${shown(knee.p99Settled)} ms`;
}

const percent = (share: number) => `${Math.round(share * 100)} %`;
const count = (number: number) => number.toLocaleString("en");

function megabytes(value: number): string {
  if (value >= 1e6) return `${shown(value / 1e6)} TB`;
  return value >= 1000 ? `${shown(value / 1000)} GB` : `${shown(value)} MB`;
}
