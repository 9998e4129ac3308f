import type { PhoneReason } from "../../contract/words.ts";
import { type Automaton, labelAfter } from "./automaton.ts";
import type { PhoneRegion } from "./phone-number.ts";
import type { PlainNumber } from "./plain-number.ts";
import { isGeneral } from "./plan-label.ts";
import { type CallingCode, mainPlan, type NumberingPlan, type Plans, type Prefix } from "./plans.ts";

/** A number, parsed by the numbering plan of its country, or of its calling code. */
export type PlanReading = {
  /** The country's plan where the country is known, else the main one of the calling code. */
  readonly plan: NumberingPlan;
  readonly country: string | undefined;
  readonly nationalNumber: string;
  /** The number's label in the plan: see `plan-label.ts`. */
  readonly label: number;
};

const CALLING_CODE_DIGITS_MAX = 3;
const NATIONAL_NUMBER_MIN = 2;
const ZERO = 48;

/**
 * Parses a number in the steps of libphonenumber-js: exit prefix, calling code, national prefix, country of a shared
 * calling code. The region applies to a number without `+`.
 */
export function readByPlan(
  { digits, isInternational }: PlainNumber,
  region: PhoneRegion | undefined,
  plans: Plans,
): PlanReading | PhoneReason {
  if (isInternational) return readInternational(digits, plans);
  if (region === undefined) return "invalid_country";
  const plan =
    "country" in region
      ? plans.ofCountry.get(region.country)
      : plans.ofCallingCode[Number(region.callingCode)]?.plans[0];
  if (plan === undefined) return "invalid_country";
  if ("country" in region) {
    const outside = withoutExitPrefix(digits, plan.exitPrefix);
    if (outside !== undefined) return readInternational(outside, plans);
  }
  const inside = withoutCallingCode(digits, plan, plans.automaton);
  if (inside !== undefined) return readNational(inside, mainPlan(plan), undefined, plans.automaton);
  return readNational(digits, plan, "country" in region ? plan.country : undefined, plans.automaton);
}

function readInternational(digits: string, plans: Plans): PlanReading | PhoneReason {
  let code = 0;
  for (let length = 1; length <= CALLING_CODE_DIGITS_MAX && length <= digits.length; length += 1) {
    code = code * 10 + digits.charCodeAt(length - 1) - ZERO;
    const plan = plans.ofCallingCode[code]?.plans[0];
    if (plan !== undefined) return readNational(digits.slice(length), plan, undefined, plans.automaton);
  }
  return "invalid_country";
}

/** Removes the exit prefix; undefined without one, or where a 0 follows it, as no calling code begins with 0. */
function withoutExitPrefix(digits: string, exitPrefix: Prefix): string | undefined {
  if (!canBegin(digits, exitPrefix)) return undefined;
  const length = exitPrefix.pattern.exec(digits)?.[0].length ?? 0;
  const rest = digits.slice(length);
  return length === 0 || rest === "" || rest.charCodeAt(0) === ZERO ? undefined : rest;
}

/**
 * Removes the plan's calling code from a number that was written without `+`. Undefined where the digits are a national
 * number, or neither.
 */
function withoutCallingCode(digits: string, plan: NumberingPlan, automaton: Automaton): string | undefined {
  const code = plan.callingCode.digits;
  if (!digits.startsWith(code)) return undefined;
  const shorter = digits.slice(code.length);
  const asNational = withoutNationalPrefix(digits, plan, automaton);
  if (asNational.length > plan.longest) return shorter;
  if (isGeneral(labelAfter(automaton, plan.start, asNational))) return undefined;
  const national = withoutNationalPrefix(shorter, plan, automaton);
  return isGeneral(labelAfter(automaton, plan.start, national)) ? shorter : undefined;
}

function readNational(
  digits: string,
  plan: NumberingPlan,
  region: string | undefined,
  automaton: Automaton,
): PlanReading | PhoneReason {
  const nationalNumber = withoutNationalPrefix(digits, plan, automaton);
  if (nationalNumber.length < NATIONAL_NUMBER_MIN) return "too_short";
  const exact = planOfNumber(nationalNumber, plan.callingCode, automaton);
  const chosen = exact ?? plan;
  return {
    plan: chosen,
    country: exact === undefined ? region : exact.country,
    nationalNumber,
    label: labelAfter(automaton, chosen.start, nationalNumber),
  };
}

/** Returns the plan of the number's country; undefined for a non-geographic calling code, and where it fits none. */
function planOfNumber(
  nationalNumber: string,
  { plans, start }: CallingCode,
  automaton: Automaton,
): NumberingPlan | undefined {
  if (start !== 0) return plans[labelAfter(automaton, start, nationalNumber) - 1];
  return plans[0]?.country === undefined ? undefined : plans[0];
}

/** Removes the national prefix, or inserts an omitted area code, where the result may be a number. */
function withoutNationalPrefix(digits: string, plan: NumberingPlan, automaton: Automaton): string {
  const national = byPrefixRule(digits, plan);
  if (national === digits) return digits;
  if (
    isGeneral(labelAfter(automaton, plan.start, digits)) &&
    !isGeneral(labelAfter(automaton, plan.start, national))
  ) {
    return digits;
  }
  const { lengths, longest } = planOfNumber(national, plan.callingCode, automaton) ?? plan;
  return national.length > longest || ((lengths >> national.length) & 1) === 1 ? national : digits;
}

/** Applies the transform rule, if there is one, where the last group of the prefix matched; else removes the prefix. */
function byPrefixRule(digits: string, { nationalPrefix, transformRule }: NumberingPlan): string {
  if (!canBegin(digits, nationalPrefix)) return digits;
  const match = nationalPrefix.pattern.exec(digits);
  if (match === null) return digits;
  const hasGroup = match.length > 1 && Boolean(match[match.length - 1]);
  return transformRule !== undefined && hasGroup
    ? digits.replace(nationalPrefix.pattern, transformRule)
    : digits.slice(match[0].length);
}

function canBegin(digits: string, { firstDigits }: Prefix): boolean {
  return ((firstDigits >> (digits.charCodeAt(0) - ZERO)) & 1) === 1;
}
