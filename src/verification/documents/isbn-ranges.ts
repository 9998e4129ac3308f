import { digitAt, numberAt } from "./checksums/digits.ts";
import rangeText from "./data/isbn-ranges.txt" with { type: "text" };
import { tableRows } from "./data/table-rows.ts";

/** A registration group of the ISBN system: a country, a territory or a language. */
export type IsbnGroup = {
  /** Such as `978-3`. */
  readonly key: string;
  readonly agency: string;
  /** Digits of the group behind 978 or 979. */
  readonly length: number;
  /** The first and the last of each range of registrants, padded to seven digits, ascending. */
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  /** The number of digits of the registrants in each range. */
  readonly registrantLengths: Uint8Array;
};

const GROUP_DIGITS_MAX = 5;
const RANGE_DIGITS = 7;
/** Of an ISBN-13. */
const CHECK_DIGIT_AT = 12;

const [versionRow, ...groupRows] = tableRows(rangeText);

export const isbnRangesVersion = versionRow?.[1] ?? "";

const groups = new Map(groupRows.map((row) => readGroup(row)).map((group) => [groupKey(group.key), group]));

function readGroup([key = "", agency = "", rangeList = ""]: readonly string[]): IsbnGroup {
  const ranges = rangeList === "" ? [] : rangeList.split(",").map((range) => range.split("-"));
  return {
    key,
    agency,
    length: key.length - 4,
    from: Uint32Array.from(ranges, ([first = ""]) => Number(first.padEnd(RANGE_DIGITS, "0"))),
    to: Uint32Array.from(ranges, ([, last = ""]) => Number(last.padEnd(RANGE_DIGITS, "9"))),
    registrantLengths: Uint8Array.from(ranges, ([first = ""]) => first.length),
  };
}

/** Returns a number for prefix and group: their digits, then the length of the group. */
function groupKey(key: string): number {
  return numericKey(Number(key.replace("-", "")), key.length - 4);
}

function numericKey(digits: number, length: number): number {
  return digits * 10 + length;
}

/** Returns the group of an ISBN-13, or null where none is assigned. */
export function isbnGroupOf(isbn13: string): IsbnGroup | null {
  let digits = numberAt(isbn13, 0, 3);
  for (let length = 1; length <= GROUP_DIGITS_MAX; length++) {
    digits = digits * 10 + digitAt(isbn13, 2 + length);
    const group = groups.get(numericKey(digits, length));
    if (group !== undefined) return group;
  }
  return null;
}

/** Returns the number of digits of an ISBN-13's registrant, or 0 where its range is not assigned. */
export function registrantLengthOf(group: IsbnGroup, isbn13: string): number {
  const start = 3 + group.length;
  const end = Math.min(start + RANGE_DIGITS, CHECK_DIGIT_AT);
  let digits = numberAt(isbn13, start, end);
  for (let padded = end - start; padded < RANGE_DIGITS; padded++) digits *= 10;
  let low = 0;
  let high = group.from.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((group.from[middle] ?? 0) <= digits) low = middle;
    else high = middle - 1;
  }
  const isInside = digits >= (group.from[low] ?? 1) && digits <= (group.to[low] ?? 0);
  return isInside ? (group.registrantLengths[low] ?? 0) : 0;
}
