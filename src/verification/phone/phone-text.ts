import type { PhoneReason } from "../../contract/words.ts";
import { foldToAscii } from "./folding.ts";
import { readTelUri } from "./tel-uri.ts";

/** A phone number as written, in the form that numbering plans can parse. */
export type PhoneText = {
  /** Digits and punctuation, with a leading `+` where the number is international. */
  readonly number: string;
  readonly extension: string | undefined;
  /** Of a vanity number, the text before its first letter. */
  readonly beforeLetters: string | undefined;
};

/** In UTF-16 code units. A longer text is refused unread. */
const LENGTH_MAX = 250;

/** Most numbers, which are parsed as they are. `internationalPrefix` handles a zero behind the plus. */
const PLAIN = /^(?:\+[1-9]|[\d(])[\d ().\-/]*$/;

/**
 * Labels of extensions, in folded spelling. Short ones may mean something else, so they take fewer digits (9 instead of
 * 20), as in Google's libphonenumber.
 */
const EXTENSION =
  /(?<![\p{L}])(?:(?:e?xt(?:ensi(?:o\u0301?|\u00f3))?n?|anexo|ramal|poste|interno|interne|durchwahl|klappe|toestel|anknytning|wew|доб|внутр|内線|内线|分機|分机|내선)[.:]?[\s,-]*(?<long>\d{1,20})|(?:x|int|dw)[.:]?[\s,-]*(?<short>\d{1,9}))#?\)?$/iu;

/** Characters around a number in lists and sentences: quotes, angle brackets, commas, colons, semicolons. */
const AROUND =
  /^[\s"'`<>,;:\u2018-\u201f\u2039\u203a\u00ab\u00bb]+|[\s"'`<>,;:\u2018-\u201f\u2039\u203a\u00ab\u00bb]+$/g;

/**
 * Labels before a number in folded spelling: one word or two, as `Tel.`, `Phone:` and `Tel./Fax`, or one letter with a
 * colon or a dot. What follows must begin like a number.
 */
const LABEL =
  /^(?:(?:(?:t[e\u00e9]l(?:[e\u00e9](?:f|ph)on[eoa]?|efoon|e?f)?|phone|ph|mob(?:ile?)?|m[o\u00f3]v(?:il|el)|cel(?:l|ular|lular|lulare)?|handy|gsm|fon|fax|whatsapp|тел|телефон|моб|电话|電話|手机|携帯|전화)(?:[.:/\s]+|(?=[+(]))){1,2}|[tmf](?:\.:|[.:])\s*)(?=[+(]*\d)/iu;

/** The digits of the letters A to Z (ITU-T E.161). */
const KEYPAD = "22233344455566677778889999";

/** Reads a phone number as people write it. The result may still be invalid in every plan. */
export function readPhoneText(text: string): PhoneText | PhoneReason {
  if (text.length > LENGTH_MAX) return "too_long";
  const folded = foldToAscii(text).trim();
  if (PLAIN.test(folded)) return asWritten(folded);
  const written = folded.replace(AROUND, "");
  if (written.length > LENGTH_MAX) return "too_long";
  const uri = readTelUri(written);
  if (uri === null) return "not_a_number";
  const labelled = uri.extension === undefined ? splitExtension(uri.number) : uri;
  const number = internationalPrefix(behindLabel(labelled.number));
  const start = number.search(/\p{L}/u);
  if (start < 0) return { ...asWritten(number), extension: labelled.extension };
  const beforeLetters = number.slice(0, start);
  if (!isVanity(beforeLetters, number.slice(start))) return "not_a_number";
  return { number: dialled(number), extension: labelled.extension, beforeLetters };
}

/** What begins with a sign or a digit has no label, as most numbers. */
function behindLabel(text: string): string {
  return text < "A" ? text : text.replace(LABEL, "");
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

/** Replaces `(+44)`, `++44`, `+0044` and `+01144` by `+44`: no calling code begins with 0. */
function internationalPrefix(number: string): string {
  return number.replace(/^[\s"'([<]*\+[\s+]*(?:0[\s\-.]*(?:0|1[\s\-.]*1)[\s\-.]*(?=[1-9]))?/, "+");
}

/** Returns whether a number is a vanity number: three digits or more, then three letters or more, not all `x`. */
function isVanity(before: string, rest: string): boolean {
  const letters = rest.replace(/[^\p{L}]/gu, "");
  return before.replace(/\D/g, "").length >= 3 && /^[a-z]{3,}$/i.test(letters) && !/^x+$/i.test(letters);
}

function dialled(number: string): string {
  return number.replace(/[a-z]/gi, (letter) => KEYPAD[letter.toUpperCase().charCodeAt(0) - 65] ?? "");
}
