/** What has to be carried. Shares are from 0 to 1. */
export type Demand = {
  readonly addressesPerDay: number;
  /** Of the addresses: those that come as single calls, and those that come as rows of jobs; batches have the rest. */
  readonly singleShare: number;
  readonly jobShare: number;
  readonly batchSize: number;
  /** Of the addresses: those whose domain has to be looked up; of these: those that are checked with `deep`. */
  readonly coldShare: number;
  readonly deepShare: number;
  readonly documentsPerDay: number;
  readonly phonesPerDay: number;
  /** The busiest second against the average one. */
  readonly peakFactor: number;
  /** What 99 of 100 single calls must stay under. */
  readonly p99MsMax: number;
  readonly jobDaysKept: number;
  readonly coreHourUsd: number;
};

/** One of the numbers that a plan is made from, as the command line and the page ask for it. */
export type DemandInput = {
  readonly key: keyof Demand;
  readonly option: string;
  readonly label: string;
  /** What stands behind the number on the page; a share is asked for in percent there. */
  readonly unit: string;
  readonly min: number;
  readonly max: number;
  readonly initial: number;
};

const input = (
  key: keyof Demand,
  option: string,
  label: string,
  unit: string,
  [min, max]: readonly [min: number, max: number],
  initial: number,
): DemandInput => ({ key, option, label, unit, min, max, initial });

const SHARE = [0, 1] as const;

export const INPUTS: readonly DemandInput[] = [
  input("addressesPerDay", "addresses-per-day", "Addresses a day", "", [1, 1e12], 200_000_000),
  input("singleShare", "single-share", "As single calls", "%", SHARE, 0.2),
  input("jobShare", "job-share", "As rows of jobs", "%", SHARE, 0.1),
  input("batchSize", "batch-size", "Addresses in each of the other batches", "", [1, 100_000], 10_000),
  input("coldShare", "cold-share", "Addresses whose domain is not in the cache", "%", SHARE, 0.05),
  input("deepShare", "deep-share", "Of those, checked with deep", "%", SHARE, 0.1),
  input("documentsPerDay", "documents-per-day", "Documents a day", "", [0, 1e12], 1_000_000),
  input("phonesPerDay", "phones-per-day", "Phone numbers a day", "", [0, 1e12], 1_000_000),
  input("peakFactor", "peak-factor", "Busiest second against the average", "×", [1, 1000], 4),
  input("p99MsMax", "p99-ms", "99 of 100 single calls within", "ms", [0.1, 60_000], 40),
  input("jobDaysKept", "job-days", "Results of jobs are kept for", "days", [1, 365], 7),
  input("coreHourUsd", "core-hour-usd", "Price of a core for an hour", "USD", [0, 1000], 0.05),
];

/** What one unit of the page is in the plan: a percent is a hundredth. */
function scaleOf({ unit }: DemandInput): number {
  return unit === "%" ? 0.01 : 1;
}

/** The number of a demand as the page shows it. */
export function shownNumber(input: DemandInput, value: number): number {
  return withoutDust(value / scaleOf(input));
}

/** What is wrong with a number, by the name of its option. */
export type WrongInput = { readonly option: string; readonly message: string };

/**
 * Returns the demand of these texts, by the names of the options, or what is wrong with them; what is left out is as it
 * is by default. A share is from 0 to 1 on the command line, and in percent on the page.
 */
export function readDemand(
  texts: { readonly [option: string]: string | undefined },
  where: "command line" | "page",
): Demand | { readonly wrong: readonly WrongInput[] } {
  const wrong: WrongInput[] = [];
  const demand = {} as { -readonly [key in keyof Demand]: number };
  for (const input of INPUTS) {
    const { key, option, min, max, initial } = input;
    const scale = where === "page" ? scaleOf(input) : 1;
    const text = texts[option] ?? `${initial / scale}`;
    const value = text.trim() === "" ? Number.NaN : withoutDust(Number(text) * scale);
    if (!(value >= min && value <= max)) {
      const message = `must be a number from ${withoutDust(min / scale)} to ${withoutDust(max / scale)}, not "${text}"`;
      wrong.push({ option, message });
    }
    demand[key] = value;
  }
  if (demand.singleShare + demand.jobShare > 1 + 1e-9) {
    wrong.push({ option: "job-share", message: "must not be more than what single calls leave over" });
  }
  return wrong.length > 0 ? { wrong } : demand;
}

/** Percents and back: 0.07 is 7 and not 7.000000000000001. */
function withoutDust(value: number): number {
  return Number(value.toPrecision(12));
}
