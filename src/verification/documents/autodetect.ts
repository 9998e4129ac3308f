import type { DocumentType } from "../../contract/words.ts";
import { alphabetOf, compactBy, DIGITS, LETTERS, VALUE_CHARACTERS_MAX } from "./alphabet.ts";
import { cardBrandOf } from "./card-brand.ts";
import { maskCardNumber } from "./card-mask.ts";
import { isDigits, numberAt } from "./checksums/digits.ts";
import { ibanCheckDigits } from "./iban.ts";
import { ibanCountryOf } from "./iban-country.ts";
import { maskedTypeOf } from "./number-mask.ts";
import {
  type AutodetectResult,
  type Candidate,
  type IdentityResult,
  type UndetectedResult,
  undetected,
} from "./outcome.ts";
import { validateDocument } from "./registry.ts";
import { fitsVatRule, isValidBehindSomePrefix, vatRuleOf, vatStrengthOf } from "./vat.ts";

/** The characters that any type is written with. */
const ALPHABET = alphabetOf(`${DIGITS}${LETTERS}+*&Ñ`, "-./");

/** A type whose check the value passes, with its weight in the ranking. */
type Guess = { readonly type: DocumentType; readonly weight: number; readonly result: IdentityResult };

/**
 * Detects the most likely type of a value. A customary format counts most, then how rarely a random text of the same
 * structure passes the type's check. Where no check passes, or only by chance, a format or a prefix may still decide
 * the type, and the result says what is wrong. Accepts any text; a card number is masked, detected or not.
 * @example
 * autodetect("978-3-16-148410-0").detected === "isbn"
 */
export function autodetect(value: string): AutodetectResult {
  if (value.length > VALUE_CHARACTERS_MAX) {
    const message = `A value of more than ${VALUE_CHARACTERS_MAX} characters is not read.`;
    return unrecognised(undetected(maskCardNumber(value), { reason: "length", message }), []);
  }
  const number = compactBy(ALPHABET, value);
  if (number === null) return unrecognised(undetected(maskCardNumber(value)), []);
  const masked = number === value ? null : maskedTypeOf(value.normalize("NFKC").trim(), number.length);
  const guesses = plausibleTypes(number, masked)
    .map(([type, weight]) => ({ type, weight, result: validateDocument(type, value) }))
    .filter(({ result }) => result.valid);
  const likely = guesses.every(isByChance) ? likelyType(number, masked) : null;
  if (guesses.length > 0 && (likely === null || guesses.some(({ type }) => type === likely[0]))) {
    const hasVat = guesses.some(({ type }) => type === "vat");
    return ranked(guesses, hasVat ? [] : bareVatCandidates(number));
  }
  if (likely === null) return unrecognised(undetected(maskCardNumber(value)), bareVatCandidates(number));
  const [type, confidence] = likely;
  return { ...validateDocument(type, value), detected: type, confidence, candidates: [{ type, confidence }] };
}

/**
 * Returns whether a check is passed by chance: one number in ten has a Luhn digit, which is all that a card without a
 * brand has, and one VAT number in a hundred the check digits of a CNPJ of its length, such as `NL123456789B01`.
 */
function isByChance({ result }: Guess): boolean {
  if (result.type === "card") return result.details.brand === null;
  if (result.type !== "cnpj" || result.details.alphanumeric !== true) return false;
  return result.normalized !== null && fitsVatRule(result.normalized);
}

function unrecognised(result: UndetectedResult, candidates: readonly Candidate[]): AutodetectResult {
  return { ...result, detected: null, confidence: 0, candidates };
}

/** Ranks the guesses: a rival's confidence is its weight times the winner's complement, and lowers the winner's own. */
function ranked(guesses: readonly Guess[], others: readonly Candidate[]): AutodetectResult {
  const [winner, ...rivals] = guesses.toSorted((a, b) => b.weight - a.weight);
  if (winner === undefined) throw new Error("ranking needs a guess");
  const shares = rivals.map(({ type, weight }) => ({ type, confidence: weight * (1 - winner.weight) }));
  const rivalry = shares.reduce((sum, { confidence }) => sum + confidence, 0);
  const confidence = rounded(winner.weight * (1 - rivalry));
  const candidates = [
    { type: winner.type, confidence },
    ...shares.map((share) => ({ type: share.type, confidence: rounded(share.confidence) })),
    ...others,
  ];
  return {
    ...winner.result,
    detected: winner.type,
    confidence,
    candidates: candidates.toSorted((a, b) => b.confidence - a.confidence),
  };
}

function rounded(confidence: number): number {
  return Math.round(confidence * 1000) / 1000;
}

type Plausible = readonly [type: DocumentType, weight: number];

/** Returns the types whose length and characters fit, weighted by how rarely a random text passes their check. */
function plausibleTypes(number: string, masked: DocumentType | null): readonly Plausible[] {
  const plausible = isDigits(number) ? digitTypes(number) : letterTypes(number);
  if (masked === null) return plausible;
  const weight = masked === "ein" ? 0.8 : 0.99;
  return [[masked, weight], ...plausible.filter(([type]) => type !== masked)];
}

function digitTypes(number: string): readonly Plausible[] {
  switch (number.length) {
    case 9:
      return [["ein", 0.35]];
    case 10:
      return [["isbn", 0.85]];
    case 11:
      return [["cpf", 0.95]];
    case 13:
      return [
        ["isbn", 0.97],
        ["ean13", 0.9],
        ["card", cardWeight(number, 0.4)],
      ];
    case 14:
      return [
        ["cnpj", 0.95],
        ["card", cardWeight(number, 0.9)],
      ];
    default:
      return [["card", cardWeight(number, number.length === 12 ? 0.5 : 0.95)]];
  }
}

/** Returns the weight of a card, low without a brand: one number in ten has its Luhn digit by chance. */
function cardWeight(number: string, weightWithBrand: number): number {
  return cardBrandOf(numberAt(number, 0, 8)) === null ? 0.3 : weightWithBrand;
}

function letterTypes(number: string): readonly Plausible[] {
  const types: Plausible[] = [];
  if (number.length === 10) types.push(["isbn", 0.85]);
  if (number.length === 14) types.push(["cnpj", 0.95]);
  const rule = vatRuleOf(number);
  if (rule !== null) types.push(["vat", vatStrengthOf(rule, number) === "format" ? 0.7 : 0.97]);
  if (number.length >= 15) types.push(["iban", 0.99]);
  return types;
}

/** Returns VAT as a candidate for a number that is valid behind the prefix of a country of Europe. It never decides the type. */
function bareVatCandidates(number: string): readonly Candidate[] {
  const isCandidate = number.length >= 8 && number.length <= 12 && isValidBehindSomePrefix(number);
  return isCandidate ? [{ type: "vat", confidence: 0.1 }] : [];
}

/** With fewer digits behind a country's letters, a text is more likely a word than a VAT number. */
const VAT_DIGITS_MIN = 5;
/** From this length on, a text is more likely an IBAN of a wrong length than a VAT number of one. */
const IBAN_LENGTH_LIKELY = 16;

/** Returns the type by customary format, else by prefix, or null. */
function likelyType(number: string, masked: DocumentType | null): Plausible | null {
  return masked === null ? typeByPrefix(number) : [masked, 0.6];
}

/** Returns the type that letters or leading digits indicate although no check passes, or null. */
function typeByPrefix(number: string): Plausible | null {
  if (isDigits(number)) return typeByLeadingDigits(number);
  const country = isDigits(number, 2, 4) ? ibanCountryOf(number) : null;
  if (country !== null && number.length === country.classes.length) return ["iban", 0.7];
  const rule = vatRuleOf(number);
  const body = rule === null ? "" : number.slice(rule.prefix.length);
  if (rule?.lengths.includes(body.length) && body.replace(/\D/g, "").length >= VAT_DIGITS_MIN)
    return ["vat", 0.6];
  if (country !== null && number.length >= IBAN_LENGTH_LIKELY) return ["iban", 0.4];
  if (body.length >= VAT_DIGITS_MIN && isDigits(body)) return ["vat", 0.3];
  // Countries outside the registry use the same structure.
  const isLikeIban =
    /^[A-Z]{2}\d{2}[0-9A-Z]{11,30}$/.test(number) && ibanCheckDigits(number) === number.slice(2, 4);
  return isLikeIban ? ["iban", 0.5] : null;
}

function typeByLeadingDigits(number: string): Plausible | null {
  if (number.length === 13 && /^97[89]/.test(number)) return ["isbn", 0.5];
  if (number.length < 15 || number.length > 19) return null;
  const brand = cardBrandOf(numberAt(number, 0, 8));
  return brand?.lengths.includes(number.length) === true ? ["card", 0.4] : null;
}
