import { DOCUMENT_TYPES } from "../../src/contract/words.ts";
import { CORPUS } from "../load/jobs.ts";
import { type DocumentCase, documentCorpus, type PhoneCase, plainPhoneCorpus } from "../vector-input.ts";

/** Of every batch. */
export const ITEMS = 100_000;
/** Different ones, which a batch repeats. */
const PHONES = 4000;

/** One address in this many has a letter that is not ASCII. */
const WIDE_EVERY = 20;

/** The same addresses in the forms in which callers write them. */
export function emailBodies(addresses: readonly string[]): {
  readonly plain: Uint8Array;
  readonly notAscii: Uint8Array;
  readonly escaped: Uint8Array;
} {
  const wide = addresses.map((address, at) => (at % WIDE_EVERY === 0 ? `é${address}` : address));
  const notAscii = JSON.stringify({ emails: wide });
  return {
    plain: Buffer.from(
      JSON.stringify({
        emails: addresses.map((address, at) => (at % WIDE_EVERY === 0 ? `e${address}` : address)),
      }),
    ),
    notAscii: Buffer.from(notAscii),
    escaped: Buffer.from(notAscii.replaceAll("é", "\\u00e9")),
  };
}

/** Returns `count` documents of every type and as many phone numbers, and the body of each. */
export async function itemBatches(count: number) {
  const { seed } = CORPUS;
  const documents = upTo(
    count,
    await documentCorpus({ seed, countPerType: Math.ceil(count / DOCUMENT_TYPES.length) }),
  );
  const corpus = await plainPhoneCorpus({ seed, count: PHONES });
  const phones = upTo(
    count,
    corpus.filter(({ country }) => country === null),
  );
  return {
    documents: { items: documents, path: "/v1/identity/batch", body: documentBody(documents) },
    phones: { items: phones, path: "/v1/phone/batch", body: phoneBody(phones) },
  } as const;
}

/** Repeats the items, or drops the last, to have `count` of them. */
function upTo<Item>(count: number, items: readonly Item[]): readonly Item[] {
  return Array.from({ length: count }, (_, at) => items[at % items.length]).filter(
    (item) => item !== undefined,
  );
}

function documentBody(documents: readonly DocumentCase[]): Uint8Array {
  return Buffer.from(JSON.stringify({ items: documents.map(({ type, value }) => ({ type, value })) }));
}

function phoneBody(phones: readonly PhoneCase[]): Uint8Array {
  return Buffer.from(JSON.stringify({ phones: phones.map(({ text }) => text) }));
}
