/** What is given as a text by mistake, and what to do about it. */
export type MistakenForm = {
  readonly name: string;
  readonly advice: string;
  /** The word for it in a `Content-Encoding`; null without one. */
  readonly coding: "gzip" | "zstd" | null;
};

const FORMS: readonly (MistakenForm & { readonly magic: readonly number[] })[] = [
  { magic: [0x1f, 0x8b], name: "gzip", advice: "unpack it first, as gunzip does", coding: "gzip" },
  {
    magic: [0x28, 0xb5, 0x2f, 0xfd],
    name: "zstd",
    advice: "unpack it first, as unzstd does",
    coding: "zstd",
  },
  {
    magic: [0x50, 0x4b, 0x03, 0x04],
    name: "a ZIP archive, as XLSX files are",
    advice: "unpack it, or save the sheet as CSV",
    coding: null,
  },
  {
    magic: [0xd0, 0xcf, 0x11, 0xe0],
    name: "an XLS spreadsheet",
    advice: "save the sheet as CSV",
    coding: null,
  },
];

/** Bytes that show what a file is. */
export const FORM_BYTES = 4;

/** How a refusal speaks of what it refuses. */
export type Mistaken = {
  /** The name of a file, or "The body". */
  readonly name: string;
  /** What to do; by default what its form says. */
  readonly advise?: (form: MistakenForm) => string;
  /** Says how to name an encoding; null where one is named already. */
  readonly nameEncoding: ((encoding: string) => string) | null;
};

/**
 * Returns why what begins with these bytes cannot be read: it is of another kind of file, or in an encoding that must be
 * named; else null.
 */
export function whyNoText(first: Uint8Array, { name, advise, nameEncoding }: Mistaken): string | null {
  const form = FORMS.find(({ magic }) => magic.every((byte, at) => first[at] === byte));
  if (form !== undefined) return `${name} is not text but ${form.name}: ${advise?.(form) ?? form.advice}.`;
  const unmarked = nameEncoding === null ? null : unmarkedUtf16Of(first);
  if (unmarked === null || nameEncoding === null) return null;
  return `${name} is UTF-16 without its byte order mark: ${nameEncoding(unmarked)}.`;
}

/** Returns the UTF-16 that a text without a byte order mark begins in, or null. In UTF-8 it would have NUL characters. */
function unmarkedUtf16Of([a, b, c, d]: Uint8Array): "utf-16le" | "utf-16be" | null {
  if (a !== 0 && b === 0 && c !== 0 && d === 0) return "utf-16le";
  return a === 0 && b !== 0 && c === 0 && d !== 0 ? "utf-16be" : null;
}
