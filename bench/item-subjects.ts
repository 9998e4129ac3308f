import { DOCUMENT_TYPES } from "../src/contract/words.ts";
import { autodetect } from "../src/verification/documents/autodetect.ts";
import { validateDocument } from "../src/verification/documents/registry.ts";
import { readCountry } from "../src/verification/phone/region.ts";
import { validatePhone } from "../src/verification/phone/validation.ts";
import { over, type Subject } from "./subject.ts";
import { documentCorpus, phoneCorpus, plainPhoneCorpus } from "./vector-input.ts";

/** Each type of document, and the detection of types. */
export async function documentSubjects(seed: number, vectors: URL): Promise<Subject[]> {
  const cases = await documentCorpus({ seed, countPerType: 500, vectors });
  const subjects = DOCUMENT_TYPES.map((type) =>
    over(
      "documents",
      `validate: ${type}`,
      cases.filter((one) => one.type === type),
      ({ value }) => validateDocument(type, value),
      ({ valid }, result) => result.valid === valid,
    ),
  );
  const valid = cases.filter((one) => one.valid);
  const detects = over(
    "documents",
    "find out a document's type",
    valid,
    ({ value }) => autodetect(value),
    ({ type }, { candidates }) => candidates.some((candidate) => candidate.type === type),
  );
  return [...subjects, detects];
}

/** Phone numbers in the forms of the test vectors, and in those of lists. */
export async function phoneSubjects(seed: number, vectors: URL): Promise<Subject[]> {
  const corpora = [
    ["validate a phone number", await phoneCorpus({ seed, count: 500, vectors })],
    ["validate a phone number in a plain form", await plainPhoneCorpus({ seed, count: 500 })],
  ] as const;
  return corpora.map(([name, cases]) =>
    over(
      "phones",
      name,
      cases.map((one) => ({
        ...one,
        region: one.country === null ? undefined : (readCountry(one.country) ?? undefined),
      })),
      ({ text, region }) => validatePhone(text, region),
      ({ e164 }, result) => result.e164 === e164,
    ),
  );
}
