/** Names in other letters that are drawn like a provider's, as `gmаil.com` with a Cyrillic а. */
import { domainToUnicode } from "node:url";
import { foldToAscii } from "./gibberish-fold.ts";
import { providerOf } from "./providers.ts";

/** Letters drawn like a Latin one, each followed by it: those of Unicode's confusables that IDNs may hold. */
const DRAWN_ALIKE =
  "аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw ӏl ɡg ɑa ɩi ʋv οo αa νv ιi ρp υu κk τt ոn սu օo հh";

const latinOf: ReadonlyMap<string, string> = new Map(
  DRAWN_ALIKE.split(" ").map(([letter = "", latin = ""]) => [letter, latin]),
);

/** Shorter names are words in other scripts in their own right. */
const HEAD_LENGTH_MIN = 5;

/**
 * The provider's domain that an internationalised name (A-label form) is drawn like, accents apart, or null.
 *
 * @example lookAlike("xn--gmil-63d.com") // "gmail.com"
 */
export function lookAlike(domain: string): string | null {
  if (!domain.startsWith("xn--") && !domain.includes(".xn--")) return null;
  let drawn = "";
  for (const letter of foldToAscii(domainToUnicode(domain))) drawn += latinOf.get(letter) ?? letter;
  return drawn.indexOf(".") >= HEAD_LENGTH_MIN && providerOf(drawn) !== undefined ? drawn : null;
}
