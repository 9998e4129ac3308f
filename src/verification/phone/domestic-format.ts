import domesticText from "./data/domestic-formats.txt" with { type: "text" };
import { decodeFormat, type NumberFormat, nationalForm } from "./number-format.ts";

/** How numbers are written that are dialled in their own country alone. */
export type DomesticFormat = {
  readonly callingCode: string;
  /** How many digits each group takes: `3` or `3-4`. */
  readonly groups: readonly string[];
  readonly shortest: number;
  readonly longest: number;
  /** What the number's first digits match. */
  readonly leadingDigits: string;
  /** Groups as `$1`. */
  readonly national: string;
};

/** Where several fit a number the first is right, and any only where the library has no format for it. */
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

/** What a format is written with behind the calling code: nothing, as it is not dialled from abroad. */
export function internationalTemplate({ groups }: DomesticFormat): string {
  return groups.map((_, at) => `$${at + 1}`).join("");
}

/** Writes a number for which the library has no format: in groups where a format here fits, otherwise as bare digits. */
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
