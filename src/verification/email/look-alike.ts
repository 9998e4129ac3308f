/** Homographs: domains that look like a provider's, such as `gmаil.com` with a Cyrillic а. */
import { domainToUnicode } from "node:url";
import { foldToAscii } from "./gibberish-fold.ts";
import { providerOf } from "./providers.ts";

/** Letters that look like a Latin one, each followed by it: the confusables of Unicode that IDNs may contain. */
const CONFUSABLES =
  "аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw ӏl ɡg ɑa ɩi ʋv οo αa νv ιi ρp υu κk τt ոn սu օo հh";

const latinOf: ReadonlyMap<string, string> = new Map(
  CONFUSABLES.split(" ").map(([letter = "", latin = ""]) => [letter, latin]),
);

/** Shorter first labels may be words of another script. */
const HEAD_LENGTH_MIN = 5;

/**
 * Returns the provider's domain that an internationalised domain (in A-labels) looks like, accents ignored, or null.
 *
 * @example lookAlike("xn--gmil-63d.com") // "gmail.com"
 */
export function lookAlike(domain: string): string | null {
  if (!domain.startsWith("xn--") && !domain.includes(".xn--")) return null;
  let skeleton = "";
  for (const letter of foldToAscii(domainToUnicode(domain))) skeleton += latinOf.get(letter) ?? letter;
  return skeleton.indexOf(".") >= HEAD_LENGTH_MIN && providerOf(skeleton) !== undefined ? skeleton : null;
}
