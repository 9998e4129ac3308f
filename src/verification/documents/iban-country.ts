import type { IdentityWarning } from "../../contract/words.ts";
import registryText from "./data/iban-registry.txt" with { type: "text" };
import { tableRows } from "./data/table-rows.ts";
import { nationalRules } from "./iban-national-check.ts";
import { NO_WARNINGS } from "./outcome.ts";

/** A slice of the whole IBAN, `end` excluded. */
type Slice = { readonly start: number; readonly end: number };

/** The entry of a country in the registry. */
export type IbanCountry = {
  readonly code: string;
  /** In the registry's notation, such as `DE2!n8!n10!n`. */
  readonly structure: string;
  /** The class of each character of the IBAN: digit 1, letter 2, either 3. */
  readonly classes: Uint8Array;
  readonly bank: Slice | null;
  readonly branch: Slice | null;
  readonly account: Slice;
  readonly sepa: boolean;
  /** Returns whether the national check digits are valid; null where none are checked. */
  readonly nationalRule: ((iban: string) => boolean) | null;
  readonly warningsFor: (iban: string) => readonly IdentityWarning[];
};

const DIGIT = 1;
const LETTER = 2;
const CLASSES: Readonly<Record<string, number>> = { n: DIGIT, a: LETTER, c: DIGIT | LETTER };

const QR_IBAN: readonly IdentityWarning[] = ["qr_iban"];

const rows = tableRows(registryText);
const countries = indexCountries();
const hosts = new Map(
  rows.flatMap(([code = "", , , , , , , territories = "-"]) =>
    territories === "-" ? [] : territories.split(",").map((territory) => [territory, code] as const),
  ),
);

/** All countries of the registry, by code. */
export const ibanCountries: readonly IbanCountry[] = countries.filter((country) => country !== null);

/** Returns the country of an IBAN's first two letters, or null. */
export function ibanCountryOf(iban: string): IbanCountry | null {
  return countries[indexOf(iban)] ?? null;
}

/** Returns the country whose code a territory's IBANs have, such as `FR` for `GF`, or null. */
export function ibanHostOf(territory: string): string | null {
  return hosts.get(territory) ?? null;
}

/** Returns whether each character of an IBAN of the right length has the class in its country's structure. */
export function fitsStructure(country: IbanCountry, iban: string): boolean {
  const { classes } = country;
  for (let i = 2; i < classes.length; i++) {
    const kind = iban.charCodeAt(i) <= 57 ? DIGIT : LETTER;
    if (((classes[i] ?? 0) & kind) === 0) return false;
  }
  return true;
}

function indexOf(iban: string): number {
  const first = iban.charCodeAt(0) - 65;
  const second = iban.charCodeAt(1) - 65;
  return first >= 0 && second >= 0 && second < 26 ? first * 26 + second : -1;
}

function indexCountries(): readonly (IbanCountry | null)[] {
  const index = new Array<IbanCountry | null>(26 * 26).fill(null);
  for (const row of rows) {
    const country = readCountry(row);
    index[indexOf(country.code)] = country;
  }
  return index;
}

function readCountry(row: readonly string[]): IbanCountry {
  const [code = "", , structure = "", bank = "-", branch = "-", account = "-", sepa = "no"] = row;
  const accountSlice = sliceOf(account);
  if (accountSlice === null) throw new Error(`the IBAN table has no account position for ${code}`);
  return {
    code,
    structure,
    classes: classesOf(structure),
    bank: sliceOf(bank),
    branch: sliceOf(branch),
    account: accountSlice,
    sepa: sepa === "yes",
    nationalRule: nationalRules.get(code) ?? null,
    warningsFor: code === "CH" || code === "LI" ? qrWarnings : noWarnings,
  };
}

/** Parses a position within the BBAN: `1-4` is iban[4, 8). */
function sliceOf(position: string): Slice | null {
  if (position === "-") return null;
  const [first, last] = position.split("-").map(Number);
  return { start: (first ?? 0) + 3, end: (last ?? 0) + 4 };
}

function classesOf(structure: string): Uint8Array {
  const classes = [LETTER, LETTER];
  for (const [, count, kind = ""] of structure.slice(2).matchAll(/(\d+)!([nac])/g)) {
    for (let i = 0; i < Number(count); i++) classes.push(CLASSES[kind] ?? 0);
  }
  return Uint8Array.from(classes);
}

function noWarnings(): readonly IdentityWarning[] {
  return NO_WARNINGS;
}

/** Returns the warning of a QR-IBAN, for payments with a QR reference only: bank codes 30000 to 31999. */
function qrWarnings(iban: string): readonly IdentityWarning[] {
  return iban.startsWith("30", 4) || iban.startsWith("31", 4) ? QR_IBAN : NO_WARNINGS;
}
