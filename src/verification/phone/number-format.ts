import type { ByteWriter } from "../../platform/byte-writer.ts";

/** The format of one kind of national numbers. */
export type NumberFormat = {
  /** The ends of the groups by length of the number, computed on first use. */
  readonly ends: (readonly number[] | undefined)[];
  readonly groups: readonly { readonly least: number; readonly most: number }[];
  readonly national: Template;
  readonly international: Template;
};

/** `texts[n]` precedes the group with the index `groups[n]`, from 0; the last text follows the last group. */
type Template = { readonly texts: readonly string[]; readonly groups: readonly number[] };

/** Decodes a row: `format`, groups as `3 3-4`, the national and the international template, separated by tabs. */
export function decodeFormat(row: string): NumberFormat {
  const [, groups = "", national = "", international = ""] = row.split("\t");
  return {
    ends: [],
    groups: groups.split(" ").map((group) => {
      const [least = 0, most = least] = group.split("-").map(Number);
      return { least, most };
    }),
    national: decodeTemplate(national),
    international: decodeTemplate(international),
  };
}

function decodeTemplate(text: string): Template {
  const parts = text.split(/\$(\d)/);
  return {
    texts: parts.filter((_, n) => n % 2 === 0),
    groups: parts.filter((_, n) => n % 2 === 1).map((group) => Number(group) - 1),
  };
}

/** Formats a number with its national prefix; without a format as bare digits. The format must fit its length. */
export function nationalForm(digits: string, format: NumberFormat | undefined): string {
  return format === undefined ? digits : filled(format.national, digits, endsOf(format, digits.length));
}

/** Formats a number as it is written behind its calling code. */
export function internationalForm(digits: string, format: NumberFormat | undefined): string {
  return format === undefined ? digits : filled(format.international, digits, endsOf(format, digits.length));
}

function filled({ texts, groups }: Template, digits: string, ends: readonly number[]): string {
  let written = texts[0] ?? "";
  for (let n = 0; n < groups.length; n += 1) {
    const group = groups[n] ?? 0;
    written += digits.slice(group === 0 ? 0 : ends[group - 1], ends[group]) + texts[n + 1];
  }
  return written;
}

/** Writes the national form as bytes. Its texts must be ASCII. */
export function writeNational(digits: string, format: NumberFormat | undefined, writer: ByteWriter): void {
  if (format === undefined) writer.ascii(digits, 0, digits.length);
  else writeFilled(format.national, digits, endsOf(format, digits.length), writer);
}

/** Writes the international form as bytes, in the same way. */
export function writeInternational(
  digits: string,
  format: NumberFormat | undefined,
  writer: ByteWriter,
): void {
  if (format === undefined) writer.ascii(digits, 0, digits.length);
  else writeFilled(format.international, digits, endsOf(format, digits.length), writer);
}

function writeFilled(
  { texts, groups }: Template,
  digits: string,
  ends: readonly number[],
  writer: ByteWriter,
): void {
  for (let n = 0; n < texts.length; n += 1) {
    const text = texts[n] ?? "";
    writer.ascii(text, 0, text.length);
    const group = groups[n];
    if (group !== undefined) writer.ascii(digits, group === 0 ? 0 : (ends[group - 1] ?? 0), ends[group] ?? 0);
  }
}

function endsOf(format: NumberFormat, length: number): readonly number[] {
  const known = format.ends[length];
  if (known !== undefined) return known;
  const ends = groupEnds(format.groups, length);
  format.ends[length] = ends;
  return ends;
}

/** Returns the ends of the groups: the first ones take as many digits as they can, like a greedy pattern. */
function groupEnds(groups: NumberFormat["groups"], length: number): number[] {
  let wanted = groups.reduce((sum, { least }) => sum + least, 0);
  let end = 0;
  return groups.map(({ least, most }) => {
    wanted -= least;
    end += Math.min(most, length - end - wanted);
    return end;
  });
}
