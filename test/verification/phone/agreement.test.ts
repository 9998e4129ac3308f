import { describe, expect, test } from "bun:test";
import { comparePhones, describeAgreement } from "../../../bench/eval/phone-agreement.ts";
import { validatePlain } from "../../../src/verification/phone/plain-validation.ts";
import {
  validateByLibrary,
  validateByPlans,
  validatePhone,
} from "../../../src/verification/phone/validation.ts";
import { readVectors, regionOf } from "./vectors.ts";

const FILES = ["published.txt", "mobile-examples.txt", "invalid.txt", "extensions.txt", "vanity.txt"];
/** `PHONES=10000000 bun test test/verification/phone/agreement.test.ts` compares more. */
const SAMPLE = Number(process.env.PHONES ?? 30_000);
/** Another sample in each run. */
const SEED = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;

describe("the compiled numbering plans", () => {
  test("agree with the library in every field on every vector", async () => {
    let byPlans = 0;
    for (const file of FILES) {
      for (const [text = "", column = "-"] of await readVectors(file)) {
        const region = regionOf(column);
        expect(validatePhone(text, region)).toStrictEqual(validateByLibrary(text, region));
        if (validatePlain(text, region) !== undefined) byPlans += 1;
      }
    }
    expect(byPlans).toBeGreaterThan(500);
  });

  test(`agree with the library in every field on ${SAMPLE} numbers of all plans (seed ${SEED})`, () => {
    const agreement = comparePhones({ seed: SEED, count: SAMPLE });
    expect(describeAgreement(agreement).slice(1)).toEqual([]);
    expect(agreement.byPlans).toBeGreaterThan(SAMPLE * 0.8);
    expect(agreement.countries).toBeGreaterThan(240);
    expect(agreement.types).toBe(11);
  }, 3_600_000);

  test("verify the usual forms of lists, and leave the rest to the library", () => {
    const brazil = { country: "BR" };
    for (const text of ["+5511987654321", "(11) 98765-4321", " 011 98765.4321 ", "+55 11/98765-4321"]) {
      expect(validatePlain(text, brazil)?.e164).toBe("+5511987654321");
    }
    for (const text of ["", "+", "12", "+011", "++5511987654321", "11 98765-4321 ext. 5", "1-800-FLOWERS"]) {
      expect(validatePlain(text, brazil)).toBeUndefined();
    }
    expect(validatePlain("+55\u00a011\u00a098765-4321", undefined)).toBeUndefined();
    // With the exit code of another country.
    expect(validatePlain("0049 30 901820", { country: "US" })).toBeUndefined();
    expect(validatePhone("0049 30 901820", { country: "US" }).e164).toBe("+4930901820");
    expect(validatePlain("1".repeat(251), brazil)).toBeUndefined();
  });

  test("verify full-width digits, other spaces and tel: URIs, and leave letters and extensions to the library", () => {
    const forms = [
      "\uff0b55 11 \uff19\uff18765-4321",
      "+55\u00a011\u00a098765\u20114321",
      "tel:+55-11-98765-4321",
    ];
    for (const text of [
      ...forms,
      "\u202a+55 11 98765-4321\u202c",
      "(+55) 11 98765-4321",
      "\t+5511987654321\n",
    ]) {
      expect(validateByPlans(text, undefined)).toStrictEqual({
        ...validateByLibrary("+5511987654321", undefined),
        phone: text,
      });
    }
    expect(validateByPlans("one two", undefined)?.reason).toBe("not_a_number");
    for (const text of ["tel:+1-201-555-0123;ext=12", "+1 201 555 0123 x12", "1-800-FLOWERS"]) {
      expect(validateByPlans(text, { country: "US" })).toBeUndefined();
    }
  });
});
