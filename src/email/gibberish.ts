import tableText from "./data/gibberish.txt" with { type: "text" };
import { foldToAscii } from "./gibberish-fold.ts";
import { type GibberishModel, logitOf, measuresOf } from "./gibberish-model.ts";
import { calibrationFrom, calibrationStep, decodeGibberishModel } from "./gibberish-table.ts";

/** Above this score a verdict may call an address risky; below it the number is advice. One person in a thousand is above. */
export const GIBBERISH_THRESHOLD = 0.9;

const model: GibberishModel = decodeGibberishModel(tableText);
const shortLettersMax = 4;
/** Initials or a letter and a number, as staff and students have. */
const identifierLengthMax = 12;
/** A year, a course and a number, as universities give out: `17bcs054`. */
const rollNumber = /^(?:20)?[0-2]\d[a-z]{1,4}\d{2,7}(?:\+|$)/i;
const shortScoreMax = 0.5;
const otherScriptScoreMax = 0.3;
const plus = 43;
const letter = 1;
const digit = 2;

/**
 * How probable it is, from 0 to 1, that a local part is random text or a keyboard walk, where as many are as
 * are not. A `+tag` and accents are read away; pure digits, other scripts and very short locals never score high.
 * Linear in the length.
 *
 * @example gibberishScore("john.smith") < 0.1 && gibberishScore("xk7qz9vw2p") > 0.9
 */
export function gibberishScore(localPart: string): number {
  let letters = 0;
  let digits = 0;
  let switches = 0;
  let lastKind = 0;
  for (let i = 0; i < localPart.length; i++) {
    const code = localPart.charCodeAt(i);
    if (code > 127) return foldedScore(localPart);
    if (code === plus && i > 0) break;
    const lower = code | 32;
    if (lower >= 97 && lower <= 122) {
      letters++;
      if (lastKind === digit) switches++;
      lastKind = letter;
    } else if (code >= 48 && code <= 57) {
      digits++;
      if (lastKind === letter) switches++;
      lastKind = digit;
    }
  }
  if (letters === 0) return 0;
  const length = letters + digits;
  const score = probabilityOf(logitOf(measuresOf(localPart, model), length, model.weights));
  const isShort =
    length <= shortLettersMax ||
    (letters <= shortLettersMax && switches <= 1 && length <= identifierLengthMax) ||
    (switches === 2 && lastKind === digit && rollNumber.test(localPart));
  return Math.round((isShort ? Math.min(score, shortScoreMax) : score) * 1000) / 1000;
}

/** Scores what is Latin; text with letters of another script is never more than a suspicion. */
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
  const place = (logit - calibrationFrom) / calibrationStep;
  if (!(place > 0)) return calibration[0] ?? 0;
  const lower = Math.floor(place);
  if (lower >= calibration.length - 1) return calibration[calibration.length - 1] ?? 1;
  const below = calibration[lower] ?? 0;
  return below + ((calibration[lower + 1] ?? 1) - below) * (place - lower);
}
