import { digitAt, isDigits, numberAt, weightedSum } from "../checksums/digits.ts";
import { luhnRemainder } from "../checksums/luhn.ts";
import { complementOf11, remainderBy11, type VatRule } from "./rule.ts";

/** The value of a digit at an odd position of a Cypriot number. */
const CYPRUS_ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21];

function holdsCypriot(body: string): boolean {
  let sum = 0;
  for (let i = 0; i < 8; i++) sum += i % 2 === 0 ? (CYPRUS_ODD[digitAt(body, i)] ?? 0) : digitAt(body, i);
  return body.charCodeAt(8) - 65 === sum % 26;
}

const cyprus: VatRule = {
  prefix: "CY",
  country: "CY",
  shape: "8 digits and a letter",
  lengths: [9],
  strength: "check_digit",
  fits: (body) => isDigits(body, 0, 8) && body.charCodeAt(8) >= 65,
  holds: holdsCypriot,
  isIssued: (body) => !body.startsWith("12"),
};

const greece: VatRule = {
  prefix: "EL",
  country: "GR",
  shape: "9 digits",
  lengths: [9, 8],
  strength: "check_digit",
  fits: (body) => isDigits(body),
  holds: (body) => remainderBy11(weightedSum(body, [256, 128, 64, 32, 16, 8, 4, 2]), 0) === digitAt(body, 8),
  modernize: (body) => (body.length === 8 ? `0${body}` : body),
};

const SPANISH_PERSON = /^(?:\d{8}|[XYZKLM]\d{7})[A-Z]$/;
const SPANISH_ENTITY = /^[ABCDEFGHJNPQRSUVW]\d{7}[0-9A-J]$/;
const NIF_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE";
const CIF_LETTERS = "JABCDEFGHI";

/** Checks the letter of NIF, of NIE (X, Y, Z count as 0, 1, 2) and of K, L and M numbers, modulo 23. */
function holdsSpanishPerson(body: string): boolean {
  const first = body.charCodeAt(0);
  const lead = first <= 57 ? first - 48 : first >= 88 ? first - 88 : 0;
  return NIF_LETTERS.charAt((lead * 10_000_000 + numberAt(body, 1, 8)) % 23) === body.charAt(8);
}

/** Checks a digit for companies, a letter for public bodies, either for the rest and entities abroad (province 00). */
function holdsSpanishEntity(body: string): boolean {
  const digit = (10 - luhnRemainder(`${body.slice(1, 8)}0`)) % 10;
  const kind = body.charAt(0);
  const given = body.charAt(8);
  const letter = CIF_LETTERS.charAt(digit);
  if ("NPQRSW".includes(kind)) return given === letter;
  if ("ABEH".includes(kind) && !body.startsWith("00", 1)) return given === String(digit);
  return given === String(digit) || given === letter;
}

const spain: VatRule = {
  prefix: "ES",
  country: "ES",
  shape: "a NIF, NIE or CIF of 9 characters",
  lengths: [9],
  strength: "check_digit",
  fits: (body) => SPANISH_PERSON.test(body) || SPANISH_ENTITY.test(body),
  holds: (body) => (SPANISH_PERSON.test(body) ? holdsSpanishPerson(body) : holdsSpanishEntity(body)),
};

/** Returns whether a code is that of a registering province, 001 to 100, or one of four others. */
function isItalianProvince(code: number): boolean {
  return (code >= 1 && code <= 100) || code === 120 || code === 121 || code === 888 || code === 999;
}

const italy: VatRule = {
  prefix: "IT",
  country: "IT",
  shape: "11 digits",
  lengths: [11],
  strength: "check_digit",
  fits: (body) => isDigits(body),
  holds: (body) => luhnRemainder(body) === 0,
  isIssued: (body) => numberAt(body, 0, 7) > 0 && isItalianProvince(numberAt(body, 7, 10)),
};

const malta: VatRule = {
  prefix: "MT",
  country: "MT",
  shape: "8 digits, the first not 0",
  lengths: [8],
  strength: "two_check_digits",
  fits: (body) => isDigits(body) && !body.startsWith("0"),
  // The check digits complete a multiple of 37: 01 to 37, and no other numbers that are congruent to these.
  holds: (body) => 37 - (weightedSum(body, [3, 4, 6, 7, 8, 9]) % 37) === numberAt(body, 6, 8),
};

const portugal: VatRule = {
  prefix: "PT",
  country: "PT",
  shape: "9 digits, the first not 0",
  lengths: [9],
  strength: "check_digit",
  fits: (body) => isDigits(body) && !body.startsWith("0"),
  holds: (body) => complementOf11(weightedSum(body, [9, 8, 7, 6, 5, 4, 3, 2]), 0) === digitAt(body, 8),
};

export const southernRules: readonly VatRule[] = [cyprus, greece, spain, italy, malta, portugal];
