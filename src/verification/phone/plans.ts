import { type Automaton, decodeAutomaton } from "./automaton.ts";
import plansText from "./data/plans.txt" with { type: "text" };
import { decodeFormat, type NumberFormat } from "./number-format.ts";

/** A numbering plan, compiled from the library's metadata at `data:refresh`. */
export type NumberingPlan = {
  /** ISO 3166 alpha-2, undefined for a non-geographic calling code. */
  readonly country: string | undefined;
  readonly callingCode: CallingCode;
  /** A bit for each length of national numbers that is in use. */
  readonly lengths: number;
  readonly shortest: number;
  readonly longest: number;
  /** Dialled before international numbers. */
  readonly exitPrefix: Prefix;
  readonly nationalPrefix: Prefix;
  /** The replacement of a national prefix with groups, as in `String.replace`. */
  readonly transformRule: string | undefined;
  /** The automaton's initial state, for labels of `plan-label.ts`. */
  readonly start: number;
  /** Rows of formats, each decoded on first use. */
  readonly formats: (NumberFormat | string)[];
};

/** A pattern at the beginning of a number, and a bit for each digit that it can begin with: mostly one, or none. */
export type Prefix = { readonly pattern: RegExp; readonly firstDigits: number };

export type CallingCode = {
  readonly digits: string;
  /** The main country's plan first. */
  readonly plans: NumberingPlan[];
  /** The initial state for labels that are indexes of the number's plan, from 1; 0 where the code is not shared. */
  start: number;
};

export type Plans = {
  readonly ofCountry: ReadonlyMap<string, NumberingPlan>;
  /** By its number, 1 to 999. */
  readonly ofCallingCode: readonly (CallingCode | undefined)[];
  /** Of all plans and of all shared calling codes. */
  readonly automaton: Automaton;
};

const CALLING_CODES = 1000;
const STATES_ROW = "\nstates\t";

let decoded: Plans | undefined;

/** Returns the plans, which are constant, and decoded on first use, once in each thread: 4 ms, 1 MB. */
export function numberingPlans(): Plans {
  decoded ??= decodePlans(plansText);
  return decoded;
}

/** Returns the plan of the calling code's main country, for numbers whose country is not known. */
export function mainPlan(plan: NumberingPlan): NumberingPlan {
  return plan.callingCode.plans[0] ?? plan;
}

/** Returns a format of the plan by its index; undefined where there is no such format. */
export function formatOf({ formats }: NumberingPlan, index: number): NumberFormat | undefined {
  const format = formats[index];
  if (typeof format !== "string") return format;
  const decodedFormat = decodeFormat(format);
  formats[index] = decodedFormat;
  return decodedFormat;
}

/** Decodes the rows that `phone-plans.ts` in the data refresh writes. */
function decodePlans(text: string): Plans {
  const ofCountry = new Map<string, NumberingPlan>();
  const ofCallingCode: (CallingCode | undefined)[] = Array(CALLING_CODES).fill(undefined);
  const statesAt = text.indexOf(STATES_ROW);
  let formats: string[] = [];
  for (const row of text.slice(0, statesAt).split("\n")) {
    const [kind, ...fields] = row.split("\t");
    if (kind === "format") formats.push(row);
    else if (kind === "shared") {
      const shared = ofCallingCode[Number(fields[0])];
      if (shared !== undefined) shared.start = Number(fields[1]);
    } else if (kind === "plan") {
      formats = [];
      const digits = fields[1] ?? "";
      const callingCode = ofCallingCode[Number(digits)] ?? { digits, plans: [], start: 0 };
      ofCallingCode[Number(digits)] = callingCode;
      const plan = decodePlan(fields, callingCode, formats);
      callingCode.plans.push(plan);
      if (plan.country !== undefined) ofCountry.set(plan.country, plan);
    }
  }
  return { ofCountry, ofCallingCode, automaton: decodeAutomaton(text, statesAt + STATES_ROW.length) };
}

function decodePlan(fields: readonly string[], callingCode: CallingCode, formats: string[]): NumberingPlan {
  const [id, , lengthList = "", exitPrefix, exitFirst, nationalPrefix, nationalFirst, transformRule, start] =
    fields;
  const lengths = lengthList.split(" ").map(Number);
  return {
    country: id === "001" ? undefined : id,
    callingCode,
    lengths: lengths.reduce((mask, length) => mask | (1 << length), 0),
    shortest: Math.min(...lengths),
    longest: Math.max(...lengths),
    exitPrefix: decodePrefix(exitPrefix, exitFirst),
    nationalPrefix: decodePrefix(nationalPrefix, nationalFirst),
    transformRule: transformRule === "" ? undefined : transformRule,
    start: Number(start),
    formats,
  };
}

function decodePrefix(source = "", firstDigits = ""): Prefix {
  let mask = 0;
  for (const digit of firstDigits) mask |= 1 << Number(digit);
  return { pattern: new RegExp(`^(?:${source})`), firstDigits: mask };
}
