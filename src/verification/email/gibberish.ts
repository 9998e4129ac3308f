import { withoutAbbreviations } from "./abbreviation.ts";
import tableText from "./data/gibberish.txt" with { type: "text" };
import { foldToAscii } from "./gibberish-fold.ts";
import { createLocalReading, readLocal } from "./gibberish-measures.ts";
import { type GibberishModel, logitOf } from "./gibberish-model.ts";
import { calibrationFrom, calibrationStep, decodeGibberishModel } from "./gibberish-table.ts";

/** Above this score an address is risky. The local parts of about one person in a thousand score higher. */
export const GIBBERISH_THRESHOLD = 0.9;

const model: GibberishModel = decodeGibberishModel(tableText);
const shortLettersMax = 4;
/** The longest identifier of staff and students: initials or a letter, and a number. */
const identifierLengthMax = 12;
/** A roll number of a university, of year, course and number: `17bcs054`. */
const rollNumber = /^(?:20)?[0-2]\d[a-z]{1,4}\d{2,7}(?:\+|$)/i;
const loneDigit = /(?<![a-z\d])\d(?![a-z\d])/gi;
const shortScoreMax = 0.5;
/** A letter before the tag that no hexadecimal number has. */
const beyondHexadecimal = /^[^+]*[g-z]/i;
const otherScriptScoreMax = 0.3;
const reading = createLocalReading();

/**
 * Returns the probability, from 0 to 1, that a local part is random text or a keyboard walk, at a prior of one half.
 * Ignores a `+tag` and accents; digits alone, other scripts and very short local parts never score high. Takes linear
 * time.
 *
 * @example gibberishScore("john.smith") < 0.1 && gibberishScore("xk7qz9vw2p") > 0.9
 */
export function gibberishScore(localPart: string): number {
  return gibberishScoreIn(localPart, 0, localPart.length);
}

/** Returns the score of the local part in text[start, end). */
export function gibberishScoreIn(text: string, start: number, end: number): number {
  if (!readLocal(text, start, end, model, reading)) return foldedScore(text.slice(start, end));
  const { measures, letters, digits, loneDigits, changes, endsInDigit } = reading;
  if (letters === 0) return 0;
  if (loneDigits > 0) return gibberishScore(withoutLoneDigits(text, start, end));
  const length = letters + digits;
  const score = Math.round(probabilityOf(logitOf(measures, length, model.weights)) * 1000) / 1000;
  if (score <= shortScoreMax) return score;
  if (isShort(text, start, end, length)) return shortScoreMax;
  return changes === 1 && !endsInDigit && digits > 1
    ? scoreBehindDigits(text, start, end, score)
    : scoreBesideAbbreviations(text, start, end, score);
}

/**
 * Returns the local part without digits alone between separators. People count with them (`j.smith.5`), and the
 * tables, which have hardly any, would take them for random.
 */
function withoutLoneDigits(text: string, start: number, end: number): string {
  return text.slice(start, end).replaceAll(loneDigit, "");
}

/**
 * Returns `score`, or `shortScoreMax` where the local part is more likely a name without the digits that it begins
 * with: the tables have years and numbers behind names, and people write them before (`67tdinh`) as well.
 */
function scoreBehindDigits(text: string, start: number, end: number, score: number): number {
  let first = start;
  while (!isLetter(text.charCodeAt(first))) first++;
  const isName =
    beyondHexadecimal.test(text.slice(first, end)) && nameScore(text, first, end) <= shortScoreMax;
  return isName ? shortScoreMax : scoreBesideAbbreviations(text, start, end, score);
}

/** Scores letters that follow digits; a few of them by the tables alone, as short text is never above `shortScoreMax`. */
function nameScore(text: string, start: number, end: number): number {
  readLocal(text, start, end, model, reading);
  const { measures, letters } = reading;
  if (letters > shortLettersMax) return gibberishScoreIn(text, start, end);
  return probabilityOf(logitOf(measures, letters, model.weights));
}

function isLetter(code: number): boolean {
  return (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
}

/** Returns what the local part scores without its abbreviations, or `score` where it has none. */
function scoreBesideAbbreviations(text: string, start: number, end: number, score: number): number {
  const rest = withoutAbbreviations(text, start, end);
  return rest === null ? score : Math.min(score, Math.max(shortScoreMax, gibberishScore(rest)));
}

/** Returns whether the local part in `reading` is too short, or too like a usual identifier, for a high score. */
function isShort(text: string, start: number, end: number, length: number): boolean {
  const { letters, changes, endsInDigit } = reading;
  return (
    length <= shortLettersMax ||
    (letters <= shortLettersMax && changes <= 1 && length <= identifierLengthMax) ||
    (changes === 2 && endsInDigit && rollNumber.test(text.slice(start, end)))
  );
}

/** Scores the Latin letters; with letters of another script the score is at most `otherScriptScoreMax`. */
function foldedScore(localPart: string): number {
  const folded = foldToAscii(localPart);
  let ascii = "";
  let hasOtherScript = false;
  for (let i = 0; i < folded.length; i++) {
    const isAscii = folded.charCodeAt(i) < 128;
    ascii += isAscii ? folded.charAt(i) : "-";
    hasOtherScript ||= !isAscii;
  }
  const score = gibberishScore(ascii);
  return hasOtherScript ? Math.min(score, otherScriptScoreMax) : score;
}

function probabilityOf(logit: number): number {
  const { calibration } = model;
  const position = (logit - calibrationFrom) / calibrationStep;
  if (!(position > 0)) return calibration[0] ?? 0;
  const lower = Math.floor(position);
  if (lower >= calibration.length - 1) return calibration[calibration.length - 1] ?? 1;
  const below = calibration[lower] ?? 0;
  return below + ((calibration[lower + 1] ?? 1) - below) * (position - lower);
}
