import { isBitSet, setBit } from "../../platform/bits.ts";
import wordsText from "./data/business-words.txt" with { type: "text" };
import { digitSymbol, symbolOfCode } from "./gibberish-model.ts";

/**
 * Words of business as people abbreviate them by their consonants: `frntdsk`, `dvlpmnt`, `mktgmgr2`. They are a table
 * of their own, as counts of their letters would let random consonants pass.
 */

/** The level of a form: two forms may be joined where their levels add up to `JOINED_MIN`. */
const ALL_CONSONANTS_BUT_ONE = 1;
const ALL_CONSONANTS = 2;
const ABBREVIATION = 3;
const JOINED_MIN = 4;

const FORM_MIN = 3;
/** A form is kept as a number in base 27, which is exact up to this length. */
const FORM_MAX = 11;
const NO_FORM = 0;
/** The longest segment that is looked up, as one form or two. */
const SEGMENT_MAX = 16;
/** Bits of a Bloom filter before the forms: 8 KB, which stay in the CPU cache. */
const BITS = 65_536;

/** A power of two, twice as many as there are forms, so that a free place is never far. */
const PLACES = 16_384;

/** The forms, each at the first free place from its own, and their levels. */
type FormTable = {
  readonly bits: Uint8Array;
  readonly forms: Float64Array;
  readonly levels: Uint8Array;
};

let table: FormTable | undefined;

/** Made with the first local part that looks random: few calls need it. */
function formTable(): FormTable {
  table ??= makeFormTable();
  return table;
}

function makeFormTable(): FormTable {
  const made = {
    bits: new Uint8Array(BITS / 8),
    forms: new Float64Array(PLACES),
    levels: new Uint8Array(PLACES),
  };
  for (const line of wordsText.split("\n")) {
    if (line.startsWith("#")) continue;
    for (const word of line.split(" ")) addWord(made, word);
  }
  return made;
}

function addWord(made: FormTable, word: string): void {
  if (word.endsWith("*")) {
    addForm(made, word.slice(0, -1), ABBREVIATION);
    return;
  }
  addForm(made, word, ALL_CONSONANTS);
  const first = word.slice(0, 1);
  const withY = first + word.slice(1).replace(/[aeiou]/g, "");
  const withoutY = first + word.slice(1).replace(/[aeiouy]/g, "");
  const forms = [withY, withoutY, withoutRepeats(withY), withoutRepeats(withoutY)];
  for (const form of new Set(forms)) addConsonants(made, form);
}

function withoutRepeats(form: string): string {
  let text = "";
  for (const letter of form) if (!text.endsWith(letter)) text += letter;
  return text;
}

function addConsonants(made: FormTable, text: string): void {
  if (text.length < FORM_MIN || text.length > FORM_MAX) return;
  addForm(made, text, ALL_CONSONANTS);
  addForm(made, `${text}s`, ALL_CONSONANTS);
  if (text.length < FORM_MIN + 2) return;
  let before = formOf(text);
  let behind = NO_FORM;
  let power = 1;
  for (let at = text.length - 1; at > 0; at--) {
    const symbol = symbolAt(text, at);
    before = (before - symbol) / 27;
    add(made, before * power + behind, ALL_CONSONANTS_BUT_ONE);
    behind += symbol * power;
    power *= 27;
  }
}

function addForm(made: FormTable, text: string, level: number): void {
  if (text.length > 0 && text.length <= FORM_MAX) add(made, formOf(text), level);
}

function add({ bits, forms, levels }: FormTable, form: number, level: number): void {
  setBit(bits, form & (BITS - 1));
  const place = placeOf(forms, form);
  forms[place] = form;
  levels[place] = Math.max(level, levels[place] ?? 0);
}

/** Returns where a form is, or the free place where it would be. */
function placeOf(forms: Float64Array, form: number): number {
  let place = (form ^ (form / BITS)) & (PLACES - 1);
  while (forms[place] !== form && forms[place] !== NO_FORM) place = (place + 1) & (PLACES - 1);
  return place;
}

function formOf(text: string): number {
  let form = NO_FORM;
  for (let at = 0; at < text.length; at++) form = form * 27 + symbolAt(text, at);
  return form;
}

/** Returns the level of a form, or 0 where it is none. */
function levelOf({ bits, forms, levels }: FormTable, form: number): number {
  return isBitSet(bits, form & (BITS - 1)) ? (levels[placeOf(forms, form)] ?? 0) : 0;
}

function symbolAt(text: string, at: number): number {
  return symbolOfCode[text.charCodeAt(at)] ?? 0;
}

/**
 * Returns the ASCII local part in text[start, end) without its tag and without the segments that are abbreviations, or
 * null where it has none. Takes linear time.
 */
export function withoutAbbreviations(text: string, start: number, end: number): string | null {
  let rest: string | null = null;
  let segmentStart = start;
  for (let at = start; at <= end; at++) {
    if (at < end && symbolAt(text, at) !== 0) continue;
    if (isAbbreviation(text, segmentStart, at)) rest ??= text.slice(start, segmentStart);
    else if (rest !== null) rest += `.${text.slice(segmentStart, at)}`;
    if (at > start && text.charCodeAt(at) === PLUS) break;
    segmentStart = at + 1;
  }
  return rest;
}

const PLUS = 0x2b;

/** By index in a segment, the form from there to its end. */
const formFrom = new Float64Array(SEGMENT_MAX);

/** Returns whether a segment, without digits before and behind, is one form or two. */
function isAbbreviation(text: string, segmentStart: number, segmentEnd: number): boolean {
  let start = segmentStart;
  let end = segmentEnd;
  while (start < end && symbolAt(text, start) === digitSymbol) start++;
  while (end > start && symbolAt(text, end - 1) === digitSymbol) end--;
  const length = end - start;
  if (length < FORM_MIN || length > SEGMENT_MAX) return false;
  let whole = NO_FORM;
  let power = 1;
  for (let at = length - 1; at >= 0; at--) {
    const symbol = symbolAt(text, start + at);
    if (symbol === digitSymbol) return false;
    whole = length - at > FORM_MAX ? NO_FORM : whole + symbol * power;
    power *= 27;
    formFrom[at] = whole;
  }
  const made = formTable();
  return levelOf(made, whole) > 0 || isJoined(made, text, start, length);
}

/** Returns whether a segment is two forms, as found in `formFrom`. A form that is repeated is no abbreviation. */
function isJoined(made: FormTable, text: string, start: number, length: number): boolean {
  let first = NO_FORM;
  for (let at = 1; at < length && at <= FORM_MAX; at++) {
    first = first * 27 + symbolAt(text, start + at - 1);
    const level = levelOf(made, first);
    if (level === 0) continue;
    const second = formFrom[at] ?? NO_FORM;
    const secondLevel = levelOf(made, second);
    if (secondLevel > 0 && level + secondLevel >= JOINED_MIN && first !== second) return true;
  }
  return false;
}
