/**
 * A pattern of numbering plans as a tree. They use literals, `\d`, classes, groups, alternatives, `?` and
 * counted repeats.
 */
export type PatternNode =
  | { readonly kind: "digits"; readonly mask: number }
  | { readonly kind: "all"; readonly items: readonly PatternNode[] }
  | { readonly kind: "any"; readonly items: readonly PatternNode[] }
  | {
      readonly kind: "repeat";
      readonly item: PatternNode;
      readonly least: number;
      readonly most: number;
    };

/** One bit for each digit. */
export const EVERY_DIGIT = 0x3ff;

/** Returns the tree of a pattern, its groups capturing or not; a `$` is passed over. Throws at anything else. */
export function parsePattern(pattern: string): PatternNode {
  const source = pattern.replaceAll("$", "");
  let at = 0;
  const fail = (): never => {
    throw new Error(`Not a pattern of this kind, at ${at}: ${source}`);
  };
  const take = (text: string): boolean => {
    if (!source.startsWith(text, at)) return false;
    at += text.length;
    return true;
  };
  const number = (): number => {
    const digits = /^\d+/.exec(source.slice(at))?.[0] ?? fail();
    at += digits.length;
    return Number(digits);
  };
  const alternatives = (): PatternNode => {
    const items = [sequence()];
    while (take("|")) items.push(sequence());
    return items.length === 1 && items[0] !== undefined ? items[0] : { kind: "any", items };
  };
  const sequence = (): PatternNode => {
    const items: PatternNode[] = [];
    while (at < source.length && source[at] !== "|" && source[at] !== ")") items.push(repeated(atom()));
    return { kind: "all", items };
  };
  const atom = (): PatternNode => {
    if (take("\\d")) return { kind: "digits", mask: EVERY_DIGIT };
    if (take("(?:") || take("(")) {
      const inner = alternatives();
      return take(")") ? inner : fail();
    }
    if (take("[")) return { kind: "digits", mask: classMask() };
    return { kind: "digits", mask: 1 << digit() };
  };
  const digit = (): number => {
    const found = /\d/.exec(source.charAt(at))?.[0] ?? fail();
    at += 1;
    return Number(found);
  };
  const classMask = (): number => {
    let mask = 0;
    while (!take("]")) {
      if (take("\\d")) mask = EVERY_DIGIT;
      else {
        const low = digit();
        const high = take("-") ? digit() : low;
        for (let one = low; one <= high; one += 1) mask |= 1 << one;
      }
    }
    return mask;
  };
  const repeated = (item: PatternNode): PatternNode => {
    if (take("?")) return { kind: "repeat", item, least: 0, most: 1 };
    if (!take("{")) return item;
    const least = number();
    const most = take(",") ? number() : least;
    return take("}") ? { kind: "repeat", item, least, most } : fail();
  };
  const node = alternatives();
  return at === source.length ? node : fail();
}
