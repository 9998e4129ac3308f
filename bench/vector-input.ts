import { DOCUMENT_TYPES, type DocumentType } from "../src/contract/words.ts";
import { validateByLibrary } from "../src/verification/phone/validation.ts";
import { createRandom } from "./random.ts";

/** Corpora of documents and phone numbers: the test vectors, picked from a seed, each with the answer that is right. */

/** The folder of the test vectors. */
export const VECTORS = new URL("../test/vectors/", import.meta.url);

export type DocumentCase = { readonly type: DocumentType; readonly value: string; readonly valid: boolean };

/** The vectors of each document type in a seeded order, as often as it takes to make `countPerType`. */
export async function documentCorpus(options: {
  readonly seed: number;
  readonly countPerType: number;
  readonly vectors?: URL;
}): Promise<readonly DocumentCase[]> {
  const random = createRandom(options.seed);
  const cases: DocumentCase[] = [];
  for (const type of DOCUMENT_TYPES) {
    const vectors: DocumentCase[] = [];
    for (const valid of [true, false]) {
      const rows = await readVectors(`documents/${type}.${valid ? "valid" : "invalid"}.txt`, options.vectors);
      for (const [value = ""] of rows) vectors.push({ type, value, valid });
    }
    for (let n = 0; n < options.countPerType; n += 1) cases.push(random.pick(vectors));
  }
  return cases;
}

export type PhoneCase = {
  readonly text: string;
  /** As the caller gives it, or null. */
  readonly country: string | null;
  readonly e164: string;
};

/** Numbers that authorities publish for films and documentation, in a seeded order. */
export async function phoneCorpus(options: {
  readonly seed: number;
  readonly count: number;
  readonly vectors?: URL;
}): Promise<readonly PhoneCase[]> {
  const random = createRandom(options.seed);
  const rows = await readVectors("phone/published.txt", options.vectors);
  const vectors = rows.map(([text = "", country = "-", e164 = ""]) => ({
    text: String(JSON.parse(`"${text}"`)),
    country: country === "-" ? null : country,
    e164,
  }));
  return Array.from({ length: options.count }, () => random.pick(vectors));
}

/** The numbers of the test vectors in the forms that lists hold: E.164, international, and national with its country. */
export async function plainPhoneCorpus(options: {
  readonly seed: number;
  readonly count: number;
}): Promise<readonly PhoneCase[]> {
  const cases = (await phoneCorpus(options)).flatMap(({ e164 }, n) => {
    const { international, national, country } = validateByLibrary(e164, undefined);
    const forms = [
      { text: e164, country: null },
      { text: international ?? e164, country: null },
      { text: national ?? e164, country },
    ];
    const form = forms[n % forms.length];
    return form === undefined || form.country === "001" ? [] : [{ ...form, e164 }];
  });
  return cases.filter(
    ({ text, country, e164 }) =>
      validateByLibrary(text, country === null ? undefined : { country }).e164 === e164,
  );
}

/** The tab-separated rows of a file of test vectors. */
async function readVectors(path: string, vectors = VECTORS): Promise<string[][]> {
  const text = await Bun.file(new URL(path, vectors)).text();
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split("\t"));
}
