import metadata from "libphonenumber-js/max/metadata";
import { type PatternNode, parsePattern } from "../../src/tools/data-refresh/phone-pattern.ts";
import type { PhoneRegion } from "../../src/verification/phone/phone-number.ts";
import { readCountry } from "../../src/verification/phone/region.ts";
import { createRandom, type Random } from "../random.ts";

/** A number as someone may write it, and where it is dialled. */
export type WrittenPhone = { readonly text: string; readonly region: PhoneRegion | undefined };

/** What is drawn from: one numbering plan, by the positions of the package's METADATA.md. */
type Source = {
  readonly country: string | undefined;
  readonly callingCode: string;
  /** The region that the calling code names. */
  readonly named: PhoneRegion | undefined;
  readonly lengths: readonly number[];
  /** Whole numbers of each type, of the plan at large, and with the first digits of a format or a country. */
  readonly numbers: readonly PatternNode[];
  readonly leading: readonly PatternNode[];
  readonly exitPrefix: PatternNode;
  readonly nationalPrefix: PatternNode | undefined;
};

const LONGEST_DRAWN = 19;
const SEPARATORS = [" ", "-", ".", "/", " - ", ") ", "  "];
const EXTENSIONS = [" ext. 12", " x5", "#7", ",,123#", ";ext=9", " доб. 4"];
const LETTERS = ["-FLOWERS", " abc", "CALL", "x"];
/** Read in every region, whatever its own exit prefix is. */
const EXIT_CODES = ["00", "011", "810", "0011", "+00", "+011"];

/** Draws numbers of all plans, valid, nearly valid and not, the same for the same seed. */
export function createPhoneNumbers(seed: number): () => WrittenPhone {
  const random = createRandom(seed);
  const sources = allSources();
  const sharing = Map.groupBy(sources, ({ callingCode }) => callingCode);
  return () => {
    const source = random.pick(sources);
    const national = withSlip(random, nationalNumber(random, source));
    const { text, region } = written(
      random,
      source,
      national,
      random.pick(sources),
      sharing.get(source.callingCode) ?? [source],
    );
    return { text: inOtherForm(random, punctuated(random, text)), region };
  };
}

function allSources(): Source[] {
  const { countries, nonGeographic } = metadata as unknown as Record<string, Record<string, unknown[]>>;
  const geographic = Object.entries(countries ?? {}).map(([country, plan]) => sourceOf(country, plan));
  return [...geographic, ...Object.values(nonGeographic ?? {}).map((plan) => sourceOf(undefined, plan))];
}

function sourceOf(country: string | undefined, plan: readonly unknown[]): Source {
  const [callingCode, exitPrefix, general, lengths, formats, prefix, , prefixForParsing] = plan;
  const types = ((plan[11] || []) as (readonly string[] | 0)[]).flatMap((type) =>
    type ? type[0] || [] : [],
  );
  const leading = ((formats || []) as unknown[][]).flatMap((format) => (format[2] as string[]) || []);
  const leadingDigits = plan[10];
  if (typeof leadingDigits === "string") leading.push(leadingDigits);
  const nationalPrefix = prefixForParsing || prefix;
  return {
    country,
    callingCode: String(callingCode),
    named: readCountry(String(callingCode)) ?? undefined,
    lengths: lengths as number[],
    numbers: [String(general), ...types].map(parsePattern),
    leading: leading.map(parsePattern),
    exitPrefix: parsePattern(String(exitPrefix || "00")),
    nationalPrefix: typeof nationalPrefix === "string" ? parsePattern(nationalPrefix) : undefined,
  };
}

function nationalNumber(random: Random, { numbers, leading, lengths }: Source): string {
  if (random.next() < 0.75) return drawn(random, random.pick(numbers));
  const length = random.next() < 0.8 ? random.pick(lengths) : random.below(LONGEST_DRAWN);
  const first = leading.length > 0 && random.next() < 0.6 ? drawn(random, random.pick(leading)) : "";
  return (first + digits(random, length)).slice(0, length);
}

/** Now and then a digit is changed, lost or added. */
function withSlip(random: Random, number: string): string {
  const chance = random.next();
  const at = random.below(number.length + 1);
  if (chance < 0.06) return number.slice(0, at) + digits(random, 1) + number.slice(at + 1);
  if (chance < 0.1) return number.slice(0, at) + number.slice(at + 1);
  return chance < 0.14 ? number.slice(0, at) + digits(random, 1) + number.slice(at) : number;
}

function written(
  random: Random,
  source: Source,
  national: string,
  other: Source,
  sharing: readonly Source[],
): { readonly text: string; readonly region: PhoneRegion | undefined } {
  const { callingCode, nationalPrefix, exitPrefix } = source;
  const prefixed = nationalPrefix === undefined ? national : drawn(random, nationalPrefix) + national;
  const anywhere = random.next() < 0.3 ? undefined : regionOf(random, random.pick([source, other]));
  const here = random.next() < 0.9 ? regionOf(random, source) : regionOf(random, random.pick(sharing));
  const chance = random.next();
  if (chance < 0.3) return { text: `+${callingCode}${national}`, region: anywhere };
  if (chance < 0.36) return { text: `+${callingCode}${prefixed}`, region: anywhere };
  if (chance < 0.58) return { text: national, region: here };
  if (chance < 0.8) return { text: prefixed, region: here };
  if (chance < 0.86) return { text: callingCode + random.pick([national, prefixed]), region: here };
  if (chance < 0.9) return { text: drawn(random, exitPrefix) + callingCode + national, region: here };
  if (chance < 0.93)
    return { text: drawn(random, other.exitPrefix) + callingCode + national, region: anywhere };
  if (chance < 0.96) return { text: random.pick(EXIT_CODES) + callingCode + national, region: anywhere };
  return { text: national, region: random.next() < 0.5 ? undefined : regionOf(random, other) };
}

/** As a caller names it: the country, or its calling code. */
function regionOf(random: Random, { country, named }: Source): PhoneRegion | undefined {
  if (country !== undefined && random.next() < 0.7) return { country };
  return named;
}

function punctuated(random: Random, text: string): string {
  const chance = random.next();
  if (chance < 0.5) return text;
  if (chance < 0.52) return text + random.pick(EXTENSIONS);
  if (chance < 0.54) return text + random.pick(LETTERS);
  if (chance < 0.55) return ` ${text} `;
  const start = text.startsWith("+") ? 2 : 1;
  const at = start + random.below(Math.max(1, text.length - start));
  const open = random.next() < 0.2 && !text.startsWith("+") ? "(" : "";
  const rest = text.slice(at).replace(/\d{2,4}(?=\d)/g, (group) => group + (random.next() < 0.5 ? "-" : " "));
  return open + text.slice(0, at) + random.pick(SEPARATORS) + rest;
}

/** Now and then as copied from a page or a document: the digits, blanks or hyphens of another script, or with marks around. */
function inOtherForm(random: Random, text: string): string {
  const chance = random.next();
  if (chance < 0.92) return text;
  if (chance < 0.93)
    return text.replace(/[!-~]/g, (mark) => String.fromCharCode(mark.charCodeAt(0) + 0xfee0));
  if (chance < 0.94) return text.replace(/\d/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0x630));
  if (chance < 0.96) return text.replaceAll(" ", "\u00a0").replaceAll("-", "\u2011");
  if (chance < 0.97) return `\u202a${text}\u202c`;
  if (chance < 0.98)
    return text.replace(/^\+(\d{1,3})/, random.pick(["(+$1)", "+ $1", "++$1", "+00$1", "\uff0b$1"]));
  return random.pick([`tel:${text}`, `TEL:${text};isub=1`, `tel:${text};ext=12`, `\t${text}\n`]);
}

function drawn(random: Random, node: PatternNode): string {
  switch (node.kind) {
    case "digits":
      return random.pick(digitsIn(node.mask));
    case "all": {
      let text = "";
      for (const item of node.items) text += drawn(random, item);
      return text;
    }
    case "any":
      return drawn(random, random.pick(node.items));
    case "repeat": {
      let text = "";
      let times = node.least + random.below(node.most - node.least + 1);
      for (; times > 0; times -= 1) text += drawn(random, node.item);
      return text;
    }
  }
}

const digitLists = new Map<number, readonly string[]>();

function digitsIn(mask: number): readonly string[] {
  const known = digitLists.get(mask);
  if (known !== undefined) return known;
  const list = Array.from("0123456789").filter((digit) => (mask >> Number(digit)) & 1);
  digitLists.set(mask, list);
  return list;
}

function digits(random: Random, length: number): string {
  let text = "";
  while (text.length < length) text += String(random.below(10));
  return text;
}
