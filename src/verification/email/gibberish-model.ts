/**
 * The arithmetic of the gibberish score, shared by the scorer and by the script that fits its tables.
 *
 * A local part is a sequence of symbols: 0 for a boundary, 1 to 26 for a to z, 27 for any digit. Every symbol adds its
 * log-likelihood ratio, of random text to names, given the symbols before it.
 */

export const symbolCount = 28;
export const digitSymbol = 27;
/** Letters are grouped into a few kinds, which allows a longer context: see `kindOfSymbol`. */
export const kindCount = 8;
export const kindOrder = 5;
/** A context has three bits for each kind: integer arithmetic makes the loop fast. */
export const kindTableSize = 32_768;

/** Returns the last five kinds as one number, after one more symbol. */
export function nextKindContext(context: number, symbol: number): number {
  return ((context << 3) | (kindOfSymbol[symbol] ?? 0)) & (kindTableSize - 1);
}

/** Ratios are quantised to levels from 0 on, of a byte each, so that the tables stay in the CPU cache. */
export const ratioLeast = -5;
export const ratioStep = 0.12;
/** The level of a ratio of 0, for symbols without an entry. */
export const neutralLevel = Math.round(-ratioLeast / ratioStep);

export type GibberishModel = {
  /** Level of the log-likelihood ratio by (symbol before last, last, current); high ones indicate random text. */
  readonly trigrams: Uint8Array;
  /** The same by the kinds of five consecutive symbols. */
  readonly kinds: Uint8Array;
  /** By length class, a weight for each of `measureNames`: what is significant in six letters is not in sixteen. */
  readonly weights: readonly Float64Array[];
  /** The calibration: probabilities at evenly spaced logits, see `probabilityOf`. */
  readonly calibration: Float64Array;
};

export const lengthClassCount = 3;

/** Returns the length class of a local part with this number of letters and digits. */
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

/** Returns the logit of "gibberish" before calibration, for a local part with this number of letters and digits. */
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
