import type { IdentityStrength, IdentityWarning } from "../../contract/words.ts";
import { alphabetOf, compactBy, DIGITS, LETTERS, unreadable } from "./alphabet.ts";
import { isOneCharacterRepeated } from "./checksums/digits.ts";
import type { DocumentCheck, StretchWriter } from "./document-check.ts";
import { type Finding, failed, NO_WARNINGS, type Outcome, passed } from "./outcome.ts";
import { rulesBeyond } from "./vat/beyond.ts";
import { easternRules } from "./vat/eastern.ts";
import { northernRules } from "./vat/northern.ts";
import type { VatRule } from "./vat/rule.ts";
import { southernRules } from "./vat/southern.ts";
import { westernRules } from "./vat/western.ts";
import { fieldStarts, writeKnown } from "./written-details.ts";

// Old Irish numbers have + and *, Mexican ones & and Ñ.
const ALPHABET = alphabetOf(`${DIGITS}${LETTERS}+*&Ñ`, "-./");

const LEGACY_LENGTH: readonly IdentityWarning[] = ["legacy_length"];

const europeanRules = [...westernRules, ...southernRules, ...northernRules, ...easternRules];

/** All rules, those of Europe first. */
export const vatRules: readonly VatRule[] = [...europeanRules, ...rulesBeyond];

const rulesByPrefix = new Map(vatRules.map((rule) => [rule.prefix.slice(0, 2), rule]));

const UNREAD: Finding<"vat"> = {
  normalized: null,
  formatted: null,
  country: null,
  strength: "check_digit",
  warnings: NO_WARNINGS,
  data_version: null,
  details: { prefix: null, number: null },
};

function compact(value: string): string | null {
  return compactBy(ALPHABET, value);
}

/** Formats `CHE107787577IVA` as `CHE-107.787.577 IVA`; without a customary format the compact form is unchanged. */
function format(number: string): string {
  const rule = vatRuleOf(number);
  return rule?.format === undefined ? number : rule.format(number.slice(rule.prefix.length));
}

/** Returns the rule of a compact number's prefix, or null. Greece may be written EL or GR. */
export function vatRuleOf(number: string): VatRule | null {
  const code = number.slice(0, 2);
  return rulesByPrefix.get(code === "GR" ? "EL" : code) ?? null;
}

/** Returns the strength of the rule's check for a compact number. */
export function vatStrengthOf(rule: VatRule, number: string): IdentityStrength {
  return strengthOfBody(rule, number.slice(rule.prefix.length));
}

function strengthOfBody(rule: VatRule, body: string): IdentityStrength {
  return rule.strengthOf?.(body) ?? rule.strength;
}

/** Returns whether a compact number has the structure of its prefix's rule, whatever its check digits. */
export function fitsVatRule(number: string): boolean {
  const rule = vatRuleOf(number);
  if (rule === null || !number.startsWith(rule.prefix)) return false;
  const body = number.slice(rule.prefix.length);
  return rule.lengths.includes(body.length) && rule.fits(body);
}

/** The rules of Europe by the lengths of their numbers; of a rule with withdrawn forms, the first is the present one. */
const europeanByLength = Map.groupBy(
  europeanRules.flatMap((rule) =>
    (rule.modernize === undefined ? rule.lengths : rule.lengths.slice(0, 1)).map((length) => ({
      length,
      rule,
    })),
  ),
  ({ length }) => length,
);

/** Returns whether a number is valid behind the prefix of some European country, in its present form. */
export function isValidBehindSomePrefix(body: string): boolean {
  const sameLength = europeanByLength.get(body.length) ?? [];
  return sameLength.some(({ rule }) => rule.fits(body) && rule.holds(body) && isIssued(rule, body));
}

function findingOf(rule: VatRule, body: string): Finding<"vat"> {
  return {
    normalized: rule.prefix + body,
    formatted: null,
    country: rule.country,
    strength: rule.strength,
    warnings: NO_WARNINGS,
    data_version: null,
    details: { prefix: rule.prefix, number: body },
  };
}

function refusePrefix(value: string, number: string): Outcome<"vat"> {
  const unread = { ...UNREAD, normalized: number };
  if (!/^[A-Z]{2}/.test(number)) {
    const message = "A VAT number begins with the letters of its country, such as DE or EL.";
    return failed("vat", value, "format", message, unread);
  }
  return failed("vat", value, "component", `No VAT number begins with ${number.slice(0, 2)}.`, unread);
}

function validate(value: string): Outcome<"vat"> {
  const number = compact(value);
  if (number === null) return unreadable("vat", value, "a VAT number", ALPHABET, UNREAD);
  const rule = vatRuleOf(number);
  if (rule === null) return refusePrefix(value, number);
  const given = number.slice(rule.prefix.length);
  if (rule.prefix.length > 2 && !number.startsWith(rule.prefix)) {
    return failed("vat", value, "format", `${describedBy(rule)}.`, { ...UNREAD, normalized: number });
  }
  if (!rule.lengths.includes(given.length)) {
    const message = `${describedBy(rule)}; this has ${counted(given.length)} there.`;
    return failed("vat", value, "length", message, findingOf(rule, given));
  }
  const body = rule.modernize === undefined ? given : rule.modernize(given);
  if (!rule.fits(body)) {
    return failed("vat", value, "format", `${describedBy(rule)}; this does not.`, findingOf(rule, given));
  }
  return verifyBody(value, rule, body, body.length === given.length ? null : LEGACY_LENGTH);
}

function describedBy({ prefix, shape }: VatRule): string {
  return `A VAT number that begins with ${prefix} goes on with ${shape}`;
}

function counted(characters: number): string {
  return characters === 1 ? "1 character" : `${characters} characters`;
}

function verifyBody(
  value: string,
  rule: VatRule,
  body: string,
  legacy: readonly IdentityWarning[] | null,
): Outcome<"vat"> {
  const normalized = rule.prefix + body;
  const finding: Finding<"vat"> = {
    normalized,
    formatted: rule.format === undefined ? normalized : rule.format(body),
    country: rule.country,
    strength: strengthOfBody(rule, body),
    warnings: legacy ?? (rule.warningsFor === undefined ? NO_WARNINGS : rule.warningsFor(body)),
    data_version: null,
    details: { prefix: rule.prefix, number: numeralOf(rule, body) },
  };
  if (!rule.holds(body)) {
    const message =
      finding.strength === "format"
        ? `No person's number begins as ${normalized} does: it begins with a day of birth.`
        : `The check digits of ${normalized} do not follow from the rest of it.`;
    return failed("vat", value, "checksum", message, finding);
  }
  if (!isIssued(rule, body)) {
    const message =
      finding.strength === "format"
        ? `No authority issues numbers such as ${normalized}.`
        : `${normalized} satisfies the arithmetic, and such numbers are never issued.`;
    return failed("vat", value, "component", message, finding);
  }
  return passed("vat", value, finding);
}

/** Returns the body without a suffix such as MVA. */
function numeralOf({ numberLength }: VatRule, body: string): string {
  return numberLength === undefined ? body : body.slice(0, numberLength);
}

function isIssued(rule: VatRule, body: string): boolean {
  const numeral = numeralOf(rule, body);
  const isAllZeros = numeral.startsWith("0") && isOneCharacterRepeated(numeral);
  return !isAllZeros && (rule.isIssued === undefined || rule.isIssued(body));
}

const FIELD = fieldStarts(UNREAD.details);

// Mexican numbers may have an Ñ, so the number is not written as ASCII.
const stretches: StretchWriter<"vat"> = {
  formatted: (_, { formatted }, writer) => writer.json(formatted),
  details(_, { prefix, number }, writer) {
    writer.bytes(FIELD.prefix);
    writeKnown(prefix, writer);
    writer.bytes(FIELD.number);
    writer.json(number);
  },
};

/**
 * A value added tax number with its country's prefix, checked by the rules of each country (those of the European
 * Commission for its members). Registration is not looked up.
 * @checked the arithmetic of each country: EU-27, XI, GB, CH, NO, then IS RS TR AU IN MX RU BR and the One Stop Shop (EU, IM). Registration is not looked up
 * @strength by country; `format` for IS, MX, EU, IM, for GB and XI departments (GD, HA), Latvian persons and Czech ones born before 1954
 * @example
 * vat.validate("GR 094259216").normalized === "EL094259216"
 */
export const vat: DocumentCheck<"vat"> = { compact, validate, format, unread: UNREAD, stretches };
