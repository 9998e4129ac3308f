import creditCardType from "credit-card-type";
import packageFacts from "credit-card-type/package.json" with { type: "json" };
import type { GeneratedTable } from "./generated-table.ts";

/** Card brands and the prefixes that belong to them, by the package credit-card-type. */
export const tables: readonly GeneratedTable[] = [
  { path: "src/verification/documents/data/card-brands.txt", build: buildBrands },
  { path: "src/verification/documents/data/card-ranges.txt", build: buildRanges },
];

/** Prefixes are compared over eight digits, the length of an issuer number since 2022. */
const PREFIX_DIGITS = 8;

type BrandRange = { from: number; to: number; brand: string; prefixLength: number };

const brands = Object.values(creditCardType.types)
  .map((brand) => creditCardType.getTypeInfo(brand))
  .toSorted((a, b) => (a.type < b.type ? -1 : 1));

function headed(columns: string): string[] {
  const source = `by the npm package credit-card-type ${packageFacts.version} (MIT). Generated; do not edit.`;
  return [`# Payment card brands, ${source}`, `# ${columns}`];
}

function buildBrands(): string {
  const head = headed("data_version, then: brand, lengths, digits of the verification code");
  const version = `data_version\tcredit-card-type ${packageFacts.version}`;
  const rows = brands.map(({ type, lengths, code }) => `${type}\t${lengths.join(",")}\t${code.size}`);
  return `${[...head, version, ...rows].join("\n")}\n`;
}

/** Where prefixes of several brands cover a number, the longest one decides, and of equal ones the narrowest. */
function buildRanges(): string {
  const ranges = brands.flatMap(({ type, patterns }) => patterns.map((pattern) => rangeOf(type, pattern)));
  const edges = [...new Set(ranges.flatMap(({ from, to }) => [from, to + 1]))].sort((a, b) => a - b);
  const rows: { from: number; to: number; brand: string }[] = [];
  for (const [i, from] of edges.entries()) {
    const next = edges[i + 1];
    const brand = next === undefined ? undefined : closest(ranges, from)?.brand;
    if (next === undefined || brand === undefined) continue;
    const last = rows.at(-1);
    if (last?.brand === brand && last.to === from - 1) last.to = next - 1;
    else rows.push({ from, to: next - 1, brand });
  }
  const text = rows.map(({ from, to, brand }) => `${padded(from)}\t${padded(to)}\t${brand}`);
  return `${[...headed("first and last eight digits, brand"), ...text].join("\n")}\n`;
}

function rangeOf(brand: string, pattern: number | readonly number[]): BrandRange {
  const [first = 0, last = first] = typeof pattern === "number" ? [pattern] : pattern;
  const prefixLength = String(first).length;
  const scale = 10 ** (PREFIX_DIGITS - prefixLength);
  return { from: first * scale, to: (last + 1) * scale - 1, brand, prefixLength };
}

function closest(ranges: readonly BrandRange[], prefix: number): BrandRange | undefined {
  return ranges
    .filter(({ from, to }) => from <= prefix && prefix <= to)
    .toSorted((a, b) => b.prefixLength - a.prefixLength || a.to - a.from - (b.to - b.from))[0];
}

function padded(prefix: number): string {
  return String(prefix).padStart(PREFIX_DIGITS, "0");
}
