import domesticText from "./data/domestic-formats.txt" with { type: "text" };
import { decodeFormat, type NumberFormat, nationalForm } from "./number-format.ts";

/** The format of numbers that can be dialled within their country only. */
export type DomesticFormat = {
  readonly callingCode: string;
  /** The number of digits of each group: `3` or `3-4`. */
  readonly groups: readonly string[];
  readonly shortest: number;
  readonly longest: number;
  /** The pattern of the number's leading digits. */
  readonly leadingDigits: string;
  /** The national template, with groups as `$1`. */
  readonly national: string;
};

/** The first one that fits a number applies, and only where the library has no format for it. */
export const domesticFormats: readonly DomesticFormat[] = domesticText
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [callingCode = "", groupList = "", leadingDigits = "", national = ""] = line.split("\t");
    const groups = groupList.split(" ");
    const bounds = groups.map((group) => group.split("-").map(Number));
    return {
      callingCode,
      groups,
      shortest: sum(bounds.map(([least = 0]) => least)),
      longest: sum(bounds.map(([least = 0, most = least]) => most)),
      leadingDigits,
      national,
    };
  });

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Returns the international template: groups without separators, as the number cannot be dialled from abroad. */
export function internationalTemplate({ groups }: DomesticFormat): string {
  return groups.map((_, at) => `$${at + 1}`).join("");
}

/** Formats a number for which the library has no format: by a domestic format that fits, otherwise as bare digits. */
export function domesticForm(callingCode: string, digits: string): string {
  const format = domesticFormats.find(
    (one) =>
      one.callingCode === callingCode &&
      digits.length >= one.shortest &&
      digits.length <= one.longest &&
      new RegExp(`^(?:${one.leadingDigits})`).test(digits),
  );
  return nationalForm(digits, format && decoded(format));
}

function decoded(format: DomesticFormat): NumberFormat {
  return decodeFormat(["format", format.groups.join(" "), format.national, ""].join("\t"));
}
