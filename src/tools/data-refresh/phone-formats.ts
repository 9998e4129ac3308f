import { domesticFormats, internationalTemplate } from "../../verification/phone/domestic-format.ts";

/** A format of a numbering plan, its templates worked out. */
export type CompiledFormat = {
  /** How many digits each group takes: `3` or `3-4`. */
  readonly groups: readonly string[];
  readonly shortest: number;
  readonly longest: number;
  /** What the number's first digits match; undefined where any fit. */
  readonly leadingDigits: string | undefined;
  /** Groups as `$1`, with the national prefix. */
  readonly national: string;
  readonly international: string;
};

/** Positions in a plan and in a format, as the package's METADATA.md gives them. */
const CALLING_CODE = 0;
const FORMATS = 4;
const NATIONAL_RULE = 6;
const PATTERN = 0;
const TEMPLATE = 1;
const FORMAT_LEADING_DIGITS = 2;
const FORMAT_NATIONAL_RULE = 3;
const INTERNATIONAL_TEMPLATE = 5;

/** What the library takes for punctuation in an international form, and makes one blank. */
const PUNCTUATION =
  /[-\u2010-\u2015\u2212\u30FC\uFF0D\uFF0F/\uFF0E. \xA0\xAD\u200B\u2060\u3000()\uFF08\uFF09\uFF3B\uFF3D[\]~\u2053\u223C\uFF5E]+/g;

/**
 * Returns the formats of a plan, or where it has none of its own those of its calling code's main plan. Those for numbers
 * that are dialled in their own country alone come last.
 */
export function compileFormats(plan: readonly unknown[], main: readonly unknown[]): CompiledFormat[] {
  return [...libraryFormats(plan, main), ...domesticOf(String(plan[CALLING_CODE]))];
}

function domesticOf(callingCode: string): CompiledFormat[] {
  return domesticFormats
    .filter((format) => format.callingCode === callingCode)
    .map((format) => ({
      ...format,
      national: checked(format.national, format.groups.length),
      international: internationalTemplate(format),
    }));
}

function libraryFormats(plan: readonly unknown[], main: readonly unknown[]): CompiledFormat[] {
  const formats = (plan[FORMATS] || main[FORMATS] || []) as readonly (readonly unknown[])[];
  return formats.map((format) => {
    const groups = groupsOf(String(format[PATTERN]));
    const template = String(format[TEMPLATE]);
    const rule = format[FORMAT_NATIONAL_RULE] || plan[NATIONAL_RULE] || main[NATIONAL_RULE];
    const international = String(format[INTERNATIONAL_TEMPLATE] || template);
    return {
      groups: groups.map(({ least, most }) => (least === most ? `${least}` : `${least}-${most}`)),
      shortest: groups.reduce((sum, { least }) => sum + least, 0),
      longest: groups.reduce((sum, { most }) => sum + most, 0),
      leadingDigits: ((format[FORMAT_LEADING_DIGITS] || []) as readonly string[]).at(-1),
      national: checked(rule ? template.replace(/(\$\d)/, String(rule)) : template, groups.length),
      international: checked(international, groups.length).replace(PUNCTUATION, " ").trim(),
    };
  });
}

/** Throws where a pattern is more than groups of any digits. */
function groupsOf(pattern: string): { readonly least: number; readonly most: number }[] {
  if (!/^(?:\(\\d(?:\{\d+(?:,\d+)?\})?\))+$/.test(pattern)) throw new Error(`No plain format: ${pattern}`);
  return [...pattern.matchAll(/\(\\d(?:\{(\d+)(?:,(\d+))?\})?\)/g)].map(([, least = "1", most = least]) => ({
    least: Number(least),
    most: Number(most),
  }));
}

/** Throws where a template names a group that is not there. */
function checked(template: string, groups: number): string {
  for (const [, group = ""] of template.matchAll(/\$(.?)/g)) {
    if (!/[1-9]/.test(group) || Number(group) > groups) throw new Error(`No such group: ${template}`);
  }
  return template;
}
