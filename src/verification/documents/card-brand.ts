import brandText from "./data/card-brands.txt" with { type: "text" };
import rangeText from "./data/card-ranges.txt" with { type: "text" };
import { tableRows } from "./data/table-rows.ts";

export type CardBrand = {
  readonly name: string;
  readonly lengths: readonly number[];
  readonly cvvLength: number;
};

const [versionRow, ...brandRows] = tableRows(brandText);

export const cardBrandsVersion = versionRow?.[1] ?? "";

const brands = new Map(
  brandRows.map(([name = "", lengths = "", cvvLength = ""]) => [
    name,
    { name, lengths: lengths.split(",").map(Number), cvvLength: Number(cvvLength) } satisfies CardBrand,
  ]),
);

const ranges = tableRows(rangeText).map(([from = "", to = "", name = ""]) => ({
  from: Number(from),
  to: Number(to),
  brand: brands.get(name) ?? null,
}));
const firstPrefixes = Uint32Array.from(ranges, ({ from }) => from);

/** Returns the brand of a number's first eight digits: the one with the longest matching prefix. */
export function cardBrandOf(prefix: number): CardBrand | null {
  let low = 0;
  let high = firstPrefixes.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((firstPrefixes[middle] ?? 0) <= prefix) low = middle;
    else high = middle - 1;
  }
  const range = ranges[low];
  return range !== undefined && range.from <= prefix && prefix <= range.to ? range.brand : null;
}
