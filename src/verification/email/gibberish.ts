import tableText from "./data/gibberish.txt" with { type: "text" };
import { foldToAscii } from "./gibberish-fold.ts";
import { createLocalReading, readLocal } from "./gibberish-measures.ts";
import { type GibberishModel, logitOf } from "./gibberish-model.ts";
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
const reading = createLocalReading();

/**
 * How probable it is, from 0 to 1, that a local part is random text or a keyboard walk, where as many are as
 * are not. A `+tag` and accents are read away; pure digits, other scripts and very short locals never score high.
 * Linear in the length.
 *
 * @example gibberishScore("john.smith") < 0.1 && gibberishScore("xk7qz9vw2p") > 0.9
 */
export function gibberishScore(localPart: string): number {
  return gibberishScoreIn(localPart, 0, localPart.length);
}

/** Returns the score of the local part in text[start, end). */
export function gibberishScoreIn(text: string, start: number, end: number): number {
  if (!readLocal(text, start, end, model, reading)) return foldedScore(text.slice(start, end));
  const { measures, letters, digits } = reading;
  if (letters === 0) return 0;
  const length = letters + digits;
  const score = probabilityOf(logitOf(measures, length, model.weights));
  return (
    Math.round((isShort(text, start, end, length) ? Math.min(score, shortScoreMax) : score) * 1000) / 1000
  );
}

/** Whether what was just read is too short, or too like a usual identifier, to say much of. */
function isShort(text: string, start: number, end: number, length: number): boolean {
  const { letters, changes, endsInDigit } = reading;
  return (
    length <= shortLettersMax ||
    (letters <= shortLettersMax && changes <= 1 && length <= identifierLengthMax) ||
    (changes === 2 && endsInDigit && rollNumber.test(text.slice(start, end)))
  );
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
