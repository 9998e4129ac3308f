import type { IdentityWarning } from "../../contract/words.ts";
import { alphabetOf, compactBy, DIGITS, unreadable, wrongLength } from "./alphabet.ts";
import { digitAt, numberAt } from "./checksums/digits.ts";
import { gs1CheckDigit } from "./checksums/gs1.ts";
import prefixText from "./data/gs1-prefixes.txt" with { type: "text" };
import { tableRows } from "./data/table-rows.ts";
import type { DocumentCheck, StretchWriter } from "./document-check.ts";
import { type Ean13Class, type Finding, failed, NO_WARNINGS, type Outcome, passed } from "./outcome.ts";
import { fieldStarts, writeKnown } from "./written-details.ts";

const ALPHABET = alphabetOf(DIGITS, "-");
const LENGTH = 13;
const DATA_VERSION = "GS1 prefix list (2026)";

type Prefix = {
  readonly issuer: string | null;
  readonly class: Ean13Class;
  readonly warnings: readonly IdentityWarning[];
};

const UNASSIGNED: Prefix = {
  issuer: null,
  class: "product",
  warnings: ["unknown_issuer"],
};
const RESTRICTED: Prefix = {
  issuer: null,
  class: "restricted",
  warnings: ["restricted_prefix"],
};
const ISMN: Prefix = { issuer: "ISMN", class: "ismn", warnings: NO_WARNINGS };

const prefixes = readPrefixes();

/** Returns an entry for each of the 1,000 prefixes of three digits. */
function readPrefixes(): readonly Prefix[] {
  const entries = new Array<Prefix>(1000).fill(UNASSIGNED);
  for (const [range = "", kind = "", issuer = ""] of tableRows(prefixText)) {
    const [first = "", last = first] = range.split("-");
    entries.fill(prefixOf(kind, issuer), Number(first), Number(last) + 1);
  }
  return entries;
}

function prefixOf(kind: string, issuer: string): Prefix {
  if (kind === "restricted") return RESTRICTED;
  // GS1 reserves this prefix for demonstrations and examples.
  if (kind === "demonstration") return { issuer, class: "product", warnings: ["test_number"] };
  return { issuer: issuer === "-" ? null : issuer, class: kind as Ean13Class, warnings: NO_WARNINGS };
}

function prefixFor(digits: string): Prefix {
  const prefix = numberAt(digits, 0, 3);
  if (prefix === 979 && digitAt(digits, 3) === 0) return ISMN;
  // 0000000 is for restricted circulation within a company; the rest of 000 is GS1 US.
  if (prefix === 0 && numberAt(digits, 3, 7) === 0) return RESTRICTED;
  return prefixes[prefix] ?? UNASSIGNED;
}

const UNREAD: Finding<"ean13"> = {
  normalized: null,
  formatted: null,
  country: null,
  strength: "check_digit",
  warnings: NO_WARNINGS,
  data_version: DATA_VERSION,
  details: { gs1_prefix: null, issuer: null, class: null },
};

function compact(value: string): string | null {
  return compactBy(ALPHABET, value);
}

/** Formats `5901234123457` as `5 901234 123457`, as printed under the bars. */
function format(digits: string): string {
  return `${digits.slice(0, 1)} ${digits.slice(1, 7)} ${digits.slice(7)}`;
}

function validate(value: string): Outcome<"ean13"> {
  const digits = compact(value);
  if (digits === null) return unreadable("ean13", value, "an EAN-13", ALPHABET, UNREAD);
  if (digits.length !== LENGTH) {
    return wrongLength("ean13", value, digits, `An EAN-13 has ${LENGTH} digits`, UNREAD);
  }
  const prefix = prefixFor(digits);
  const finding: Finding<"ean13"> = {
    normalized: digits,
    formatted: format(digits),
    country: null,
    strength: "check_digit",
    warnings: prefix.warnings,
    data_version: DATA_VERSION,
    details: { gs1_prefix: digits.slice(0, 3), issuer: prefix.issuer, class: prefix.class },
  };
  const expected = gs1CheckDigit(digits);
  if (digitAt(digits, LENGTH - 1) !== expected) {
    const message = `The check digit is ${digits.slice(-1)} and should be ${expected}.`;
    return failed("ean13", value, "checksum", message, finding);
  }
  return passed("ean13", value, finding);
}

const FIELD = fieldStarts(UNREAD.details);
const GROUP_ENDS = [1, 7, LENGTH];

const stretches: StretchWriter<"ean13"> = {
  formatted: (digits, _, writer) => writer.grouped(digits, GROUP_ENDS, "  "),
  details(digits, details, writer) {
    writer.bytes(FIELD.gs1_prefix);
    writer.quoted(digits, 0, 3);
    writer.bytes(FIELD.issuer);
    writeKnown(details.issuer, writer);
    writer.bytes(FIELD.class);
    writeKnown(details.class, writer);
  },
};

/**
 * The article number of 13 digits (GTIN-13, GS1 General Specifications). Other lengths are other numbers. The country
 * is null: a prefix shows who issued the number, not the origin of the goods.
 * @checked GS1 digit; class and issuer by prefix
 * @registry GS1 prefix list
 * @example
 * ean13.validate("5901234123457").details.issuer === "PL"
 */
export const ean13: DocumentCheck<"ean13"> = { compact, validate, format, unread: UNREAD, stretches };
