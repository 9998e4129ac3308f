import type { IdentityStrength, IdentityWarning } from "../../../contract/words.ts";

/**
 * The rule of a country's VAT numbers. The functions get the body, which is the number behind the prefix, of an allowed
 * length and in upper case; `holds` and `isIssued` only one that `fits`.
 */
export type VatRule = {
  /** As in results: `EL` for Greece. */
  readonly prefix: string;
  /** ISO 3166; null where the number belongs to no one country. */
  readonly country: string | null;
  /** In words, for the message: "U and 8 digits". */
  readonly shape: string;
  /** The allowed lengths of the body. */
  readonly lengths: readonly number[];
  readonly strength: IdentityStrength;
  /** Where some of the country's numbers have other check digits than most; undefined for those of `strength`. */
  readonly strengthOf?: (body: string) => IdentityStrength | undefined;
  readonly fits: (body: string) => boolean;
  readonly holds: (body: string) => boolean;
  /** False for numbers that are never issued, though their check digits may be valid. */
  readonly isIssued?: (body: string) => boolean;
  /** Converts a withdrawn form to the present one; the result then has the warning `legacy_length`. */
  readonly modernize?: (body: string) => string;
  readonly warningsFor?: (body: string) => readonly IdentityWarning[];
  /** The length of the number in a body with a suffix such as MVA. */
  readonly numberLength?: number;
  /** Formats the whole number in the customary form; without it prefix and body are concatenated. */
  readonly format?: (body: string) => string;
};

/** Returns 11 less the remainder modulo 11, with 0 for 11 and `ten` for 10 (-1: no number has it). */
export function complementOf11(sum: number, ten: number): number {
  const digit = 11 - (sum % 11);
  return digit === 11 ? 0 : digit === 10 ? ten : digit;
}

/** Returns the remainder modulo 11, with `ten` for 10 (-1: no number has it). */
export function remainderBy11(sum: number, ten: number): number {
  const digit = sum % 11;
  return digit === 10 ? ten : digit;
}

const DAYS_MAX = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Returns whether a date in a number exists, by the last two digits of its year: 29 February in each fourth year, of
 * any century, as numbers do not always show which.
 */
export function isDay(year: number, month: number, day: number): boolean {
  if (month === 2 && day === 29) return year % 4 === 0;
  return day >= 1 && day <= (DAYS_MAX[month - 1] ?? 0);
}
