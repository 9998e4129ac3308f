import type { DocumentCase, PhoneCase } from "../input.ts";

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

export function documentBody(documents: readonly DocumentCase[]): Uint8Array {
  return Buffer.from(JSON.stringify({ items: documents.map(({ type, value }) => ({ type, value })) }));
}

export function phoneBody(phones: readonly PhoneCase[]): Uint8Array {
  return Buffer.from(JSON.stringify({ phones: phones.map(({ text }) => text) }));
}
