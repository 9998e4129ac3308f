import type { PhoneReason } from "../../contract/words.ts";
import { foldToAscii } from "./folding.ts";
import { readTelUri } from "./tel-uri.ts";

/** What was written, brought into the form that numbering plans can read. */
export type PhoneText = {
  /** Digits and punctuation, with a leading `+` where the number is international. */
  readonly number: string;
  readonly extension: string | undefined;
  /** Where letters were read as a keypad: what stands before the first of them. */
  readonly beforeLetters: string | undefined;
};

/** Longer texts are no phone numbers, and are not looked at. In UTF-16 units. */
const LENGTH_MAX = 250;

/** Most numbers: nothing to bring into form. A zero after the plus is looked at below. */
const PLAIN = /^(?:\+[1-9]|[\d(])[\d ().\-/]*$/;

/**
 * Labels of extensions, each spelled as after folding. One letter and short ones may stand for something
 * else, so that they take fewer digits (9 instead of 20), as in Google's libphonenumber.
 */
const EXTENSION =
  /(?<![\p{L}])(?:(?:e?xt(?:ensi(?:o\u0301?|\u00f3))?n?|anexo|ramal|poste|interno|interne|durchwahl|klappe|toestel|anknytning|wew|доб|внутр|内線|内线|分機|分机|내선)[.:]?[\s,-]*(?<long>\d{1,20})|(?:x|int|dw)[.:]?[\s,-]*(?<short>\d{1,9}))#?\)?$/iu;

/** What lists and sentences put around a number: quotes, angle brackets, commas, colons, semicolons. */
const AROUND =
  /^[\s"'`<>,;:\u2018-\u201f\u2039\u203a\u00ab\u00bb]+|[\s"'`<>,;:\u2018-\u201f\u2039\u203a\u00ab\u00bb]+$/g;

/** The letters of ITU-T E.161, A to Z. */
const KEYPAD = "22233344455566677778889999";

/** Reads a phone number as people write it. The result may still be no number of any plan. */
export function readPhoneText(text: string): PhoneText | PhoneReason {
  if (text.length > LENGTH_MAX) return "too_long";
  const folded = foldToAscii(text).trim();
  if (PLAIN.test(folded)) return asWritten(folded);
  const written = folded.replace(AROUND, "");
  if (written.length > LENGTH_MAX) return "too_long";
  const uri = readTelUri(written);
  if (uri === null) return "not_a_number";
  const labelled = uri.extension === undefined ? splitExtension(uri.number) : uri;
  const number = internationalPrefix(labelled.number);
  const start = number.search(/\p{L}/u);
  if (start < 0) return { ...asWritten(number), extension: labelled.extension };
  const beforeLetters = number.slice(0, start);
  if (!isDiallingAid(beforeLetters, number.slice(start))) return "not_a_number";
  return { number: dialled(number), extension: labelled.extension, beforeLetters };
}

function asWritten(number: string): PhoneText {
  return { number, extension: undefined, beforeLetters: undefined };
}

function splitExtension(written: string): { number: string; extension: string | undefined } {
  const found = EXTENSION.exec(written);
  const extension = found?.groups?.long ?? found?.groups?.short;
  if (found === null || extension === undefined) return { number: written, extension: undefined };
  return { number: written.slice(0, found.index).replace(/[\s,;(]+$/, ""), extension };
}

/** Brings `(+44)`, `++44`, `+0044` and `+01144` to `+44`: no calling code begins with 0. */
function internationalPrefix(number: string): string {
  return number.replace(/^[\s"'([<]*\+[\s+]*(?:0[\s\-.]*(?:0|1[\s\-.]*1)[\s\-.]*(?=[1-9]))?/, "+");
}

/** At least three digits and then three letters, which are not only the placeholder `x`. */
function isDiallingAid(before: string, rest: string): boolean {
  const letters = rest.replace(/[^\p{L}]/gu, "");
  return before.replace(/\D/g, "").length >= 3 && /^[a-z]{3,}$/i.test(letters) && !/^x+$/i.test(letters);
}

function dialled(number: string): string {
  return number.replace(/[a-z]/gi, (letter) => KEYPAD[letter.toUpperCase().charCodeAt(0) - 65] ?? "");
}
