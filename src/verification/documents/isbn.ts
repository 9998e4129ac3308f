import type { IdentityReason, IdentityWarning } from "../../contract/words.ts";
import { alphabetOf, compactBy, DIGITS, unreadable } from "./alphabet.ts";
import { isDigits } from "./checksums/digits.ts";
import { gs1CheckDigit } from "./checksums/gs1.ts";
import type { DocumentCheck, StretchWriter } from "./document-check.ts";
import { type IsbnGroup, isbnGroupOf, isbnRangesVersion, registrantLengthOf } from "./isbn-ranges.ts";
import { type Finding, failed, NO_WARNINGS, type Outcome, passed } from "./outcome.ts";
import { fieldStarts, writeKnown } from "./written-details.ts";

const ALPHABET = alphabetOf(`${DIGITS}X`, "-");

const UNASSIGNED_RANGE: readonly IdentityWarning[] = ["unassigned_range"];

const UNREAD: Finding<"isbn"> = {
  normalized: null,
  formatted: null,
  country: null,
  strength: "check_digit",
  warnings: NO_WARNINGS,
  data_version: isbnRangesVersion,
  details: {
    isbn10: null,
    isbn13: null,
    hyphenated10: null,
    hyphenated13: null,
    group: null,
    group_name: null,
  },
};

function compact(value: string): string | null {
  return compactBy(ALPHABET, value);
}

/** Formats `9783161484100` as `978-3-16-148410-0`; a number of an unassigned range is unchanged. */
function format(isbn: string): string {
  const isbn13 = isbn.length === 10 ? `978${isbn}` : isbn;
  const group = isbnGroupOf(isbn13);
  const hyphenated = group === null ? null : hyphenate(isbn13, group);
  if (hyphenated === null) return isbn;
  return isbn.length === 10 ? hyphenated.slice(4) : hyphenated;
}

function hyphenate(isbn13: string, group: IsbnGroup): string | null {
  const registrantLength = registrantLengthOf(group, isbn13);
  if (registrantLength === 0) return null;
  const groupEnd = 3 + group.length;
  const registrantEnd = groupEnd + registrantLength;
  return `${group.key}-${isbn13.slice(groupEnd, registrantEnd)}-${isbn13.slice(registrantEnd, 12)}-${isbn13.slice(12)}`;
}

/** Returns the check digit of the nine digits from `start` on, by weights 10 to 2 modulo 11, with X for 10. */
function isbn10CheckDigit(isbn: string, start: number): string {
  let sum = 0;
  for (let i = 0; i < 9; i++) sum += (isbn.charCodeAt(start + i) - 48) * (10 - i);
  const digit = (11 - (sum % 11)) % 11;
  return digit === 10 ? "X" : String(digit);
}

function isbn10Of(isbn: string, isbn13: string): string | null {
  if (isbn.length === 10) return isbn;
  return isbn13.startsWith("978") ? isbn13.slice(3, 12) + isbn10CheckDigit(isbn13, 3) : null;
}

function findingOf(isbn: string, isbn13: string, group: IsbnGroup | null): Finding<"isbn"> {
  const isbn10 = isbn10Of(isbn, isbn13);
  const hyphenated13 = group === null ? null : hyphenate(isbn13, group);
  const hyphenated10 =
    isbn10 === null || hyphenated13 === null ? null : `${hyphenated13.slice(4, -1)}${isbn10.slice(-1)}`;
  return {
    normalized: isbn,
    formatted: isbn.length === 10 ? hyphenated10 : hyphenated13,
    country: null,
    strength: "check_digit",
    // Ranges are assigned every month, so a book may be newer than the table.
    warnings: group !== null && hyphenated13 === null ? UNASSIGNED_RANGE : NO_WARNINGS,
    data_version: isbnRangesVersion,
    details: {
      isbn10,
      isbn13,
      hyphenated10,
      hyphenated13,
      group: group === null ? null : group.key,
      group_name: group === null ? null : group.agency,
    },
  };
}

/** Returns the message on a wrong prefix of an ISBN-13, or null. */
function prefixFault(isbn: string): string | null {
  if (isbn.startsWith("9790")) return "979-0 is for printed music (ISMN) and not for books.";
  if (isbn.startsWith("978") || isbn.startsWith("979")) return null;
  return "An ISBN of 13 digits begins with 978 or 979.";
}

function validate(value: string): Outcome<"isbn"> {
  const isbn = compact(value);
  if (isbn === null) return unreadable("isbn", value, "an ISBN", ALPHABET, UNREAD);
  const { length } = isbn;
  if (length === 13) {
    const fault = prefixFault(isbn);
    if (fault !== null) return ungrouped(value, isbn, "component", fault);
  } else if (length !== 10) {
    return ungrouped(value, isbn, "length", `An ISBN has 10 or 13 digits; this has ${length}.`);
  }
  if (!isDigits(isbn, 0, length === 10 ? 9 : 13)) {
    return ungrouped(value, isbn, "format", "X is a digit of ISBN-10 only, and only the last.");
  }
  const expected = length === 10 ? isbn10CheckDigit(isbn, 0) : String(gs1CheckDigit(isbn));
  if (!isbn.endsWith(expected)) {
    const message = `The check digit is ${isbn.slice(-1)} and should be ${expected}.`;
    return ungrouped(value, isbn, "checksum", message);
  }
  return verifyGroup(value, isbn);
}

/** Returns the refusal of a number of which nothing but its digits is known. */
function ungrouped(value: string, isbn: string, reason: IdentityReason, message: string): Outcome<"isbn"> {
  return failed("isbn", value, reason, message, { ...UNREAD, normalized: isbn });
}

function verifyGroup(value: string, isbn: string): Outcome<"isbn"> {
  const base = isbn.length === 10 ? `978${isbn}` : isbn;
  const isbn13 = isbn.length === 10 ? base.slice(0, 12) + gs1CheckDigit(base) : isbn;
  const group = isbnGroupOf(isbn13);
  const finding = findingOf(isbn, isbn13, group);
  if (group === null) {
    const message = `The ISBN agency has assigned no group that ${isbn13.slice(0, 8)} could belong to.`;
    return failed("isbn", value, "component", message, finding);
  }
  return passed("isbn", value, finding);
}

const FIELD = fieldStarts(UNREAD.details);

const stretches: StretchWriter<"isbn"> = {
  formatted: (_, { formatted }, writer) => writer.json(formatted),
  details(_, { isbn10, isbn13, hyphenated10, hyphenated13, group, group_name }, writer) {
    writer.bytes(FIELD.isbn10);
    writer.json(isbn10);
    writer.bytes(FIELD.isbn13);
    writer.json(isbn13);
    writer.bytes(FIELD.hyphenated10);
    writer.json(hyphenated10);
    writer.bytes(FIELD.hyphenated13);
    writer.json(hyphenated13);
    writer.bytes(FIELD.group);
    writeKnown(group, writer);
    writer.bytes(FIELD.group_name);
    writeKnown(group_name, writer);
  },
};

/**
 * The international standard book number (ISO 2108) of ten or thirteen digits, its group and hyphens by the
 * ranges of the International ISBN Agency.
 * @checked 10 or 13 digits, 978 or 979 and not 979-0, group assigned
 * @registry RangeMessage date
 * @example
 * isbn.validate("0-306-40615-2").details.isbn13 === "9780306406157"
 */
export const isbn: DocumentCheck<"isbn"> = { compact, validate, format, unread: UNREAD, stretches };
