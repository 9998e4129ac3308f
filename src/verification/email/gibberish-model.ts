/**
 * The arithmetic of the gibberish score, shared by the scorer and by the script that fits its tables.
 *
 * A local part is read as symbols: 0 for a boundary, 1 to 26 for a to z, 27 for any digit. Every symbol adds
 * the logarithm of "how much likelier in random text than in names, given what stood before it".
 */

export const symbolCount = 28;
export const digitSymbol = 27;
/** Letters fall into few kinds, so that a longer context can be counted: see `kindOfSymbol`. */
export const kindCount = 8;
export const kindOrder = 5;
/** Contexts are counted in bits, three for a kind: integer arithmetic is what makes the loop fast. */
export const kindTableSize = 32_768;

/** The last five kinds as one number, after one more symbol. */
export function nextKindContext(context: number, symbol: number): number {
  return ((context << 3) | (kindOfSymbol[symbol] ?? 0)) & (kindTableSize - 1);
}

/** Ratios are kept as levels from 0 on, a byte each: the tables then stay in the cache of a core that does much else. */
export const ratioLeast = -5;
export const ratioStep = 0.12;
/** For symbols that no table has. */
export const neutralLevel = Math.round(-ratioLeast / ratioStep);

export type GibberishModel = {
  /** Level of the log-likelihood ratio by (second last, last, present symbol); high ones speak for random text. */
  readonly trigrams: Uint8Array;
  /** The same for the kinds of five symbols in a row. */
  readonly kinds: Uint8Array;
  /** For each class of lengths one weight for each measure of `measureNames`: what shows in six letters is lost in sixteen. */
  readonly weights: readonly Float64Array[];
  /** The calibration: probabilities at evenly spaced logits, see `probabilityOf`. */
  readonly calibration: Float64Array;
};

export const lengthClassCount = 3;

/** Returns the class of a local with this number of letters and digits. */
export function lengthClassOf(length: number): number {
  return length <= 7 ? 0 : length <= 10 ? 1 : 2;
}

export const measureNames = [
  "bias",
  "trigram_sum",
  "trigram_mean",
  "trigram_worst_stretch",
  "kind_sum",
  "kind_mean",
  "kind_worst_stretch",
  "peak",
  "letter_digit_switches",
  "inner_digit_groups",
  "keyboard_run",
  "keyboard_short_runs",
  "repetition",
  "mixed_case",
  "length",
  "letters",
  "digit_share",
  "hexadecimal",
] as const;

const vowel = 1;
const digitKind = 7;

function kindOf(letter: string): number {
  if ("aeiou".includes(letter)) return vowel;
  if (letter === "y") return 2;
  if ("lrmnw".includes(letter)) return 3;
  if (letter === "s") return 4;
  if (letter === "h") return 5;
  return 6;
}

export const kindOfSymbol: Uint8Array = Uint8Array.from({ length: symbolCount }, (_, symbol) =>
  symbol === 0 ? 0 : symbol === digitSymbol ? digitKind : kindOf(String.fromCharCode(96 + symbol)),
);

/** Symbol of each ASCII code; what is neither letter nor digit is a boundary. */
export const symbolOfCode: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 97 && code <= 122) return code - 96;
  if (code >= 65 && code <= 90) return code - 64;
  return code >= 48 && code <= 57 ? digitSymbol : 0;
});

/** Returns the logit of "gibberish" before calibration, for a local with this number of letters and digits. */
export function logitOf(
  measures: ArrayLike<number>,
  length: number,
  weights: GibberishModel["weights"],
): number {
  const chosen = weights[lengthClassOf(length)];
  if (chosen === undefined) return 0;
  let logit = 0;
  for (let i = 0; i < measures.length; i++) logit += (measures[i] ?? 0) * (chosen[i] ?? 0);
  return logit;
}
