import { alphabetOf, compactBy, DIGITS, unreadable, wrongLength } from "./alphabet.ts";
import prefixText from "./data/ein-prefixes.txt" with { type: "text" };
import { tableRows } from "./data/table-rows.ts";
import type { DocumentCheck, StretchWriter } from "./document-check.ts";
import { type Finding, failed, NO_WARNINGS, type Outcome, passed } from "./outcome.ts";
import { fieldStarts, writeKnown } from "./written-details.ts";

const ALPHABET = alphabetOf(DIGITS, "-");
const LENGTH = 9;
const DATA_VERSION = "IRS valid EIN prefixes";

/** The only separator is behind the prefix: 123-45-6789 is a social security number. */
const WRITTEN = /^ *\d{2}[- \u2013]?\d{7} *$/;

const NO_CAMPUS: readonly string[] = [];
const campusesByPrefix = new Map(
  tableRows(prefixText).map(([prefix = "", campuses = ""]) => [prefix, campuses.split("; ")]),
);

const UNREAD: Finding<"ein"> = {
  normalized: null,
  formatted: null,
  country: "US",
  strength: "format",
  warnings: NO_WARNINGS,
  data_version: DATA_VERSION,
  details: { prefix: null, campus: null },
};

function compact(value: string): string | null {
  return compactBy(ALPHABET, value);
}

/** Formats `123456789` as `12-3456789`. */
function format(digits: string): string {
  return `${digits.slice(0, 2)}-${digits.slice(2)}`;
}

/** Returns whether a value is written like an EIN, as it is or folded. */
function isWritten(value: string): boolean {
  return WRITTEN.test(value) || WRITTEN.test(value.normalize("NFKC"));
}

function validate(value: string): Outcome<"ein"> {
  const digits = compact(value);
  if (digits === null) return unreadable("ein", value, "an EIN", ALPHABET, UNREAD);
  if (digits.length !== LENGTH) {
    return wrongLength("ein", value, digits, `An EIN has ${LENGTH} digits`, UNREAD);
  }
  if (digits !== value && !isWritten(value)) {
    const message = "An EIN is written 12-3456789, with no other separator.";
    return failed("ein", value, "format", message, { ...UNREAD, normalized: digits });
  }
  const prefix = digits.slice(0, 2);
  const campus = campusesByPrefix.get(prefix);
  const finding: Finding<"ein"> = {
    normalized: digits,
    formatted: format(digits),
    country: "US",
    strength: "format",
    warnings: NO_WARNINGS,
    data_version: DATA_VERSION,
    details: { prefix, campus: campus ?? NO_CAMPUS },
  };
  if (campus === undefined) {
    return failed("ein", value, "component", `The IRS assigns no EIN with the prefix ${prefix}.`, finding);
  }
  return passed("ein", value, finding);
}

const FIELD = fieldStarts(UNREAD.details);
const GROUP_ENDS = [2, LENGTH];

const stretches: StretchWriter<"ein"> = {
  formatted: (digits, _, writer) => writer.grouped(digits, GROUP_ENDS, "-"),
  details(digits, { campus }, writer) {
    writer.bytes(FIELD.prefix);
    writer.quoted(digits, 0, 2);
    writer.bytes(FIELD.campus);
    writeKnown(campus, writer);
  },
};

/**
 * The US employer identification number (26 CFR 301.6109-1). It has no check digit: only its prefix can be wrong.
 * @checked prefix assigned by the IRS (there is no check digit)
 * @registry IRS list
 * @example
 * ein.validate("46-1234567").details.campus // ["Internet", "Philadelphia"]
 */
export const ein: DocumentCheck<"ein"> = { compact, validate, format, unread: UNREAD, stretches };
