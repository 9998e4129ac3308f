/**
 * The arithmetic of the gibberish score, shared by the scorer and by the script that fits its tables.
 *
 * A local part is read as symbols: 0 for a boundary, 1 to 26 for a to z, 27 for any digit. Every symbol adds
 * the logarithm of "how much likelier in random text than in names, given what stood before it".
 */

import { keyCount, keyOfCode, keySteps } from "./gibberish-keyboard.ts";

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
const neutralLevel = Math.round(-ratioLeast / ratioStep);

export type GibberishModel = {
  /** Level of the log-likelihood ratio by (second last, last, present symbol); high ones speak for random text. */
  readonly trigrams: Uint8Array;
  /** The same for the kinds of five symbols in a row. */
  readonly kinds: Uint8Array;
  /** For each class of lengths one weight for each measure of `measureNames`: what tells in six letters is lost in sixteen. */
  readonly weights: readonly Float64Array[];
  /** The calibration: probabilities at evenly spaced logits, see `probabilityOf`. */
  readonly calibration: Float64Array;
};

export const lengthClassCount = 3;

/** The class of a local of so many letters and digits. */
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

const plus = 43;

/** Symbol of each ASCII code; what is neither letter nor digit is a boundary. */
export const symbolOfCode: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 97 && code <= 122) return code - 96;
  if (code >= 65 && code <= 90) return code - 64;
  return code >= 48 && code <= 57 ? digitSymbol : 0;
});

/** What is read from a local part. Made once and filled for each: it is read for every address. */
export type LocalReading = {
  /** In the order of `measureNames`. */
  readonly measures: Float64Array;
  letters: number;
  digits: number;
  /** Changes between letters and digits, with separators between them or without. */
  changes: number;
  endsInDigit: boolean;
};

export function createLocalReading(): LocalReading {
  const measures = new Float64Array(measureNames.length);
  return { measures, letters: 0, digits: 0, changes: 0, endsInDigit: false };
}

/**
 * Reads the local part that a text begins with, up to `end`; a `+tag` is left out. False where a character is not
 * ASCII: then nothing is read. Linear in the length. One loop over the characters and long for that: it is called
 * for every address, and splitting it costs more than the whole of it.
 */
export function readLocal(
  text: string,
  localEnd: number,
  model: GibberishModel,
  into: LocalReading,
): boolean {
  const { trigrams, kinds } = model;
  let end = localEnd;
  let last = 0;
  let beforeLast = 0;
  let kindContext = 0;
  let sum = 0;
  let stretch = 0;
  let worstStretch = 0;
  let kindSum = 0;
  let kindStretch = 0;
  let worstKindStretch = 0;
  let decayed = 0;
  let peak = 0;
  let terms = 0;
  let letters = 0;
  let digits = 0;
  let switches = 0;
  let innerDigitGroups = 0;
  let onlyHexadecimal = true;
  let lowerToUpper = 0;
  let lastWasLower = false;
  let changes = 0;
  let lastWasDigit = false;
  let lastKey = 0;
  let runDirections = 0;
  let runLength = 0;
  let keyboardRun = 0;
  let shortRuns = 0;
  let key1 = -1;
  let key2 = -1;
  let key3 = -1;
  let key4 = -1;
  let same1 = 0;
  let same2 = 0;
  let same3 = 0;
  let same4 = 0;
  let repetition = 0;

  for (let i = 0; i <= end; i++) {
    const code = i < end ? text.charCodeAt(i) : 0;
    if (code > 127) return false;
    if (code === plus && i > 0) end = i;
    const symbol = symbolOfCode[code] ?? 0;
    if (symbol === 0 && last === 0) continue;

    const level = trigrams[(beforeLast * symbolCount + last) * symbolCount + symbol] ?? neutralLevel;
    const ratio = level * ratioStep + ratioLeast;
    kindContext = nextKindContext(kindContext, symbol);
    const kindRatio = (kinds[kindContext] ?? neutralLevel) * ratioStep + ratioLeast;
    sum += ratio;
    stretch += ratio;
    if (stretch < 0) stretch = 0;
    else if (stretch > worstStretch) worstStretch = stretch;
    kindSum += kindRatio;
    kindStretch += kindRatio;
    if (kindStretch < 0) kindStretch = 0;
    else if (kindStretch > worstKindStretch) worstKindStretch = kindStretch;
    decayed = decayed * 0.7 + ratio;
    if (decayed > peak) peak = decayed;
    terms++;

    const key = symbol === 0 ? -1 : (keyOfCode[code] ?? 0);
    const stepDirections = key < 0 || last === 0 ? 0 : (keySteps[lastKey * keyCount + key] ?? 0);
    const sameDirections = runDirections & stepDirections;
    if (runLength > 0 && sameDirections !== 0) {
      runDirections = sameDirections;
      runLength++;
    } else {
      if (runLength >= 3) keyboardRun += runLength + 1;
      else if (runLength === 2) shortRuns++;
      runDirections = stepDirections;
      runLength = stepDirections === 0 ? 0 : 1;
    }

    if (symbol === 0) {
      lastWasLower = false;
      key1 = -1;
      key2 = -1;
      key3 = -1;
      key4 = -1;
      kindContext = 0;
      beforeLast = 0;
      last = 0;
      continue;
    }

    if (symbol === digitSymbol) {
      digits++;
      if (!lastWasDigit && letters > 0) changes++;
      lastWasDigit = true;
      if (last !== 0 && last !== digitSymbol) switches++;
      key1 = -1;
      key2 = -1;
      key3 = -1;
      key4 = -1;
    } else {
      letters++;
      if (lastWasDigit) changes++;
      lastWasDigit = false;
      if (last === digitSymbol) {
        switches++;
        innerDigitGroups++;
      }
      if (symbol > 6) onlyHexadecimal = false;
      same1 = key === key1 ? same1 + 1 : 0;
      same2 = key === key2 ? same2 + 1 : 0;
      same3 = key === key3 ? same3 + 1 : 0;
      same4 = key === key4 ? same4 + 1 : 0;
      if (same1 > 1 || same2 > 3 || same3 > 3 || same4 > 3) repetition++;
      key4 = key3;
      key3 = key2;
      key2 = key1;
      key1 = key;
      const isLower = code > 96;
      if (!isLower && lastWasLower) lowerToUpper++;
      lastWasLower = isLower;
    }
    lastKey = key;
    beforeLast = last;
    last = symbol;
  }

  const length = letters + digits;
  const shortRunCount = shortRuns > 1 ? shortRuns : shortRuns === 1 && keyboardRun > 0 ? 1 : 0;
  const hexadecimal = onlyHexadecimal && switches > 1 ? Math.min(length, 16) : 0;
  const perTerm = terms > 0 ? 1 / terms : 0;
  const digitShare = letters > 0 && digits > 0 ? digits / length : 0;
  const mixedCase = lowerToUpper > 1 ? Math.min(lowerToUpper - 1, 6) : 0;
  const { measures } = into;
  measures[0] = 1;
  measures[1] = clamped(sum * 0.1);
  measures[2] = sum * perTerm;
  measures[3] = clamped(worstStretch * 0.1);
  measures[4] = clamped(kindSum * 0.1);
  measures[5] = kindSum * perTerm;
  measures[6] = clamped(worstKindStretch * 0.1);
  measures[7] = peak * 0.1;
  measures[8] = Math.min(switches, 8);
  measures[9] = Math.min(innerDigitGroups, 4);
  measures[10] = Math.min(keyboardRun, 12);
  measures[11] = Math.min(shortRunCount, 4);
  measures[12] = Math.min(repetition, 8);
  measures[13] = mixedCase;
  measures[14] = logOfNext(length);
  measures[15] = logOfNext(letters);
  measures[16] = digitShare;
  measures[17] = hexadecimal * 0.1;
  into.letters = letters;
  into.digits = digits;
  into.changes = changes;
  into.endsInDigit = lastWasDigit;
  return true;
}

const LOGS = Float64Array.from({ length: 65 }, (_, number) => Math.log(1 + number));

function logOfNext(number: number): number {
  return LOGS[number] ?? Math.log(1 + number);
}

/** Logit of "gibberish" before calibration, for a local of so many letters and digits. */
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

function clamped(value: number): number {
  return Math.max(-4, Math.min(4, value));
}
