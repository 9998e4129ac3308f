import type { IdentityStrength, IdentityWarning } from "../../../contract/words.ts";

/**
 * How one country writes and checks its VAT numbers. The functions get the body, which is what stands behind
 * the prefix, of an admitted length and in upper case; `holds` and `isIssued` only once `fits` has said yes.
 */
export type VatRule = {
  /** As answered: `EL` for Greece. */
  readonly prefix: string;
  /** ISO 3166; null where the number belongs to no one country. */
  readonly country: string | null;
  /** In words, for the message: "U and 8 digits". */
  readonly shape: string;
  /** Of the body. */
  readonly lengths: readonly number[];
  readonly strength: IdentityStrength;
  /** Where some of the country's numbers have other check digits than most; what it leaves open is `strength`. */
  readonly strengthOf?: (body: string) => IdentityStrength | undefined;
  readonly fits: (body: string) => boolean;
  readonly holds: (body: string) => boolean;
  /** False for numbers that no authority gives out, though their arithmetic may hold. */
  readonly isIssued?: (body: string) => boolean;
  /** Brings a withdrawn form to the present one; the number then carries the warning `legacy_length`. */
  readonly modernize?: (body: string) => string;
  readonly warningsFor?: (body: string) => readonly IdentityWarning[];
  /** How many characters of the body are the number, where a suffix such as MVA follows it. */
  readonly numberLength?: number;
  /** Writes the whole number as is customary; without it prefix and body stand together. */
  readonly format?: (body: string) => string;
};

/** 11 less the remainder modulo 11, with 11 read as 0 and 10 as what a country makes of it (-1: no such number). */
export function complementOf11(sum: number, ten: number): number {
  const digit = 11 - (sum % 11);
  return digit === 11 ? 0 : digit === 10 ? ten : digit;
}

/** The remainder modulo 11, with 10 read as what a country makes of it (-1: no such number). */
export function remainderBy11(sum: number, ten: number): number {
  const digit = sum % 11;
  return digit === 10 ? ten : digit;
}

const DAYS_MAX = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * True for a day of the calendar that can stand in a number, by the last two digits of its year: the 29th of February in
 * each fourth year, of all centuries, as numbers do not always say which.
 */
export function isDay(year: number, month: number, day: number): boolean {
  if (month === 2 && day === 29) return year % 4 === 0;
  return day >= 1 && day <= (DAYS_MAX[month - 1] ?? 0);
}
