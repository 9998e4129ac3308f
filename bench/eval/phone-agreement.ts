import { PHONE_TYPES } from "../../src/contract/words.ts";
import { ByteWriter } from "../../src/platform/byte-writer.ts";
import type { PhoneResult } from "../../src/verification/phone/phone-number.ts";
import { type ValidNumber, writeValidNumber } from "../../src/verification/phone/valid-number.ts";
import {
  validateByLibrary,
  validateByPlans,
  validatePhone,
  verifyPhone,
} from "../../src/verification/phone/validation.ts";
import { createPhoneNumbers, type WrittenPhone } from "./phone-numbers.ts";

/** How often the compiled numbering plans and the library said the same of generated numbers. */
export type PhoneAgreement = {
  readonly count: number;
  /** Numbers that the compiled plans verified; the rest went to the library. */
  readonly byPlans: number;
  readonly valid: number;
  readonly countries: number;
  readonly types: number;
  /** The first few of those on which they differ. */
  readonly differences: readonly (WrittenPhone & {
    readonly ours: PhoneResult;
    readonly library: PhoneResult;
  })[];
};

const DIFFERENCES_MAX = 5;

/** Compares every field of `count` numbers that are drawn from the seed, and the JSON that is written without fields. */
export function comparePhones(options: { readonly seed: number; readonly count: number }): PhoneAgreement {
  const next = createPhoneNumbers(options.seed);
  const countries = new Set<string>();
  const types = new Set<string>();
  const differences: PhoneAgreement["differences"][number][] = [];
  let byPlans = 0;
  let valid = 0;
  let count = 0;
  for (; count < options.count && differences.length < DIFFERENCES_MAX; count += 1) {
    const phone = next();
    const byPlan = validateByPlans(phone.text, phone.region);
    const ours = byPlan ?? validatePhone(phone.text, phone.region);
    const library = validateByLibrary(phone.text, phone.region);
    const verified = verifyPhone(phone.text, phone.region);
    const isWritten = !("frame" in verified) || written(verified) === JSON.stringify(library);
    if (!isWritten || !isSame(ours, library)) differences.push({ ...phone, ours, library });
    if (byPlan !== undefined) byPlans += 1;
    if (!library.valid) continue;
    valid += 1;
    countries.add(library.country ?? "");
    types.add(library.type ?? "");
  }
  return { count, byPlans, valid, countries: countries.size, types: types.size, differences };
}

const writer = new ByteWriter();
const decoder = new TextDecoder();

function written(number: ValidNumber): string {
  writer.begin();
  writeValidNumber(number, writer);
  return decoder.decode(writer.end());
}

/** The same fields in the same order, and the same in each. */
function isSame(one: PhoneResult, other: PhoneResult): boolean {
  const fields = Object.keys(one);
  return (
    fields.join() === Object.keys(other).join() &&
    (fields as (keyof PhoneResult)[]).every((field) =>
      field === "timezones" ? one.timezones.join() === other.timezones.join() : one[field] === other[field],
    )
  );
}

/** Says it in a line, and shows what differs. */
export function describeAgreement(agreement: PhoneAgreement): string[] {
  const { count, byPlans, valid, countries, types, differences } = agreement;
  const part = (n: number) => `${((100 * n) / count).toFixed(1)} %`;
  return [
    `${count} numbers, ${part(byPlans)} judged by the compiled plans, ${part(valid)} valid, of ${countries} countries and ${types} of ${PHONE_TYPES.length} types: ${differences.length === 0 ? "every field agrees" : "they differ"}`,
    ...differences.map((difference) => JSON.stringify(difference)),
  ];
}
