import type { DocumentType } from "../../contract/words.ts";
import { type Finding, failed, type Outcome } from "./outcome.ts";

/** Longer values are refused unread, which bounds the work of every check. */
export const VALUE_CHARACTERS_MAX = 64;

/** The characters that a type is written with. */
export type Alphabet = {
  /** The kind of each UTF-16 code unit up to the en dash. */
  readonly kinds: Uint8Array;
  readonly separators: RegExp;
};

const KEPT = 1;
const DROPPED = 2;
const LOWER_CASE = 3;

export const DIGITS = "0123456789";
export const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

const SPACES = " \u00a0";
const EN_DASH = "\u2013";

/** Creates an alphabet of upper-case characters and separators; spaces and the en dash are always separators. */
export function alphabetOf(kept: string, marks: string): Alphabet {
  const separators = `${SPACES}${EN_DASH}${marks}`;
  const kinds = new Uint8Array(EN_DASH.charCodeAt(0) + 1);
  for (const mark of separators) kinds[mark.charCodeAt(0)] = DROPPED;
  for (const character of kept) {
    kinds[character.toLowerCase().charCodeAt(0)] = LOWER_CASE;
    kinds[character.charCodeAt(0)] = KEPT;
  }
  return { kinds, separators: new RegExp(`[${separators.replace(/[-\]\\^]/g, "\\$&")}]`, "g") };
}

/**
 * Returns the value in upper case and without separators; null where it has a character outside the alphabet, is too
 * long, or has separators alone. Full-width forms are folded (NFKC); digits of other scripts are outside the alphabet.
 */
export function compactBy(alphabet: Alphabet, value: string): string | null {
  if (value.length > VALUE_CHARACTERS_MAX) return null;
  const compact = compactPlain(alphabet, value) ?? compactFolded(alphabet, value);
  return compact === "" ? null : compact;
}

function compactFolded(alphabet: Alphabet, value: string): string | null {
  const folded = value.normalize("NFKC");
  return folded === value ? null : compactPlain(alphabet, folded);
}

function compactPlain({ kinds, separators }: Alphabet, value: string): string | null {
  let hasLowerCase = false;
  let hasDropped = false;
  for (let i = 0; i < value.length; i++) {
    const kind = kinds[value.charCodeAt(i)];
    if (kind === KEPT) continue;
    if (kind === DROPPED) hasDropped = true;
    else if (kind === LOWER_CASE) hasLowerCase = true;
    else return null;
  }
  const compact = hasDropped ? value.replace(separators, "") : value;
  return hasLowerCase ? compact.toUpperCase() : compact;
}

/** Returns the refusal of a value that `compactBy` could not read. `named` is the type with its article: "a CPF". */
export function unreadable<T extends DocumentType>(
  type: T,
  value: string,
  named: string,
  alphabet: Alphabet,
  unread: Finding<T>,
): Outcome<T> {
  if (value.length > VALUE_CHARACTERS_MAX) {
    const message = `A value of more than ${VALUE_CHARACTERS_MAX} characters is not read.`;
    return failed(type, value, "length", message, unread);
  }
  const position = foreignPosition(alphabet, value);
  if (position === 0) {
    const message =
      value.trim() === "" ? "The value is empty." : "The value has separators and nothing else.";
    return failed(type, value, "length", message, unread);
  }
  const message = `Character ${position} has no place in ${named}.`;
  return failed(type, value, "format", message, unread);
}

/** Returns the refusal of a compact value of a wrong length. `rule` says the right one: "A CPF has 11 digits". */
export function wrongLength<T extends DocumentType>(
  type: T,
  value: string,
  compact: string,
  rule: string,
  unread: Finding<T>,
): Outcome<T> {
  const finding = { ...unread, normalized: compact };
  return failed(type, value, "length", `${rule}; this has ${compact.length}.`, finding);
}

/** Returns the position of the first character outside the alphabet, from 1, or 0. */
function foreignPosition(alphabet: Alphabet, value: string): number {
  let position = 0;
  for (const character of value) {
    position++;
    if ((compactPlain(alphabet, character) ?? compactFolded(alphabet, character)) === null) return position;
  }
  return 0;
}
