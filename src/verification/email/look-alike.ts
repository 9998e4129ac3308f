/** Homographs: domains that look like a provider's, such as `gmаil.com` with a Cyrillic а. */
import { domainToUnicode } from "node:url";
import type { MailEvidence } from "./domain-facts.ts";
import { foldToAscii } from "./gibberish-fold.ts";
import { providerOf } from "./providers.ts";
import { headOf, tailOf, typoTables } from "./typo-families.ts";

/**
 * Characters that look like a Latin letter, each followed by it: those of IDNs that Unicode's table of confusables (UTS 39)
 * maps to one letter, and the small capital G with its Cyrillic double, which it leaves out.
 */
const CONFUSABLES =
  "аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw ӏl ɡg ɑa ɩi ʋv οo αa νv ιi ρp υu κk τt ոn սu օo հh " +
  "ᖯb ᴄc ⲥc 𐐽c ᑯd ꓒd ꬲe ҽe ꬵf ꞙf ẝf քf ᶃg ƍg ցg ɢg ԍg ɪi ꙇi 𑣃i ϳj ۱l ǀl ⵏl ᛁl ꓲl 𖼨l 𐊊l 𐌉l ռn " +
  "०o ੦o ૦o ௦o ౦o ೦o ൦o ๐o ໐o ၀o ۵o ᴏo ᴑo ꬽo σo ⲟo ჿo ഠo ဝo 𐓪o 𑣈o 𑣗o 𐐬o ০o ୦o 〇o 𑓐o 𑣠o ⵔo ዐo ଠo ꓳo 𐊒o 𐊫o 𐔖o " +
  "ⲣp գq զq ꭇr ꭈr ᴦr ⲅr гr ꜱs ƽs 𑣁s 𐑈s ꞟu ᴜu ꭎu ꭒu 𐓶u 𑣘u ᴠv ѵv 𑜆v 𑣀v ɯw ᴡw ѡw աw 𑜊w 𑜎w 𑜏w ᕁx ᕽx " +
  "ɣy ᶌy ʏy ỿy ꭚy γy үy ყy 𑣜y ᴢz 𑣄z";

const latinOf: ReadonlyMap<string, string> = new Map(
  CONFUSABLES.split(" ").map(([letter = "", latin = ""]) => [letter, latin]),
);

/** Shorter first labels may be words of another script, unless they have letters of ASCII too. */
const HEAD_LENGTH_MIN = 5;
const MIXES_SCRIPTS = /^(?=[^.]*[a-z])[^.]*[^\P{L}\p{Script=Latin}]/u;

/** Use of the providers whose names are drawn with accents to deceive; elsewhere accents are spelling (`telefónica.com`). */
const ACCENTED_WEIGHT_MIN = 40;
/** Drawn like an i, of which the folding makes one: no accent. */
const DOTLESS_I = "ı";

/**
 * Returns the provider's domain that an internationalised domain (in A-labels) looks like, accents ignored, or null. One
 * that accepts mail and differs by accents alone is taken for one of the largest providers only.
 *
 * @example lookAlike("xn--gmil-63d.com", "works") // "gmail.com"
 */
export function lookAlike(domain: string, mail: MailEvidence): string | null {
  if (!domain.startsWith("xn--") && !domain.includes(".xn--")) return null;
  const unicode = domainToUnicode(domain);
  const folded = foldToAscii(unicode);
  let skeleton = "";
  for (const letter of folded) skeleton += latinOf.get(letter) ?? letter;
  const mayBeMeant = skeleton.indexOf(".") >= HEAD_LENGTH_MIN || MIXES_SCRIPTS.test(folded);
  if (!mayBeMeant || providerOf(skeleton) === undefined) return null;
  const hasAccentsOnly = skeleton === folded && !unicode.includes(DOTLESS_I);
  return mail === "works" && hasAccentsOnly && !isOftenAccented(skeleton) ? null : skeleton;
}

function isOftenAccented(domain: string): boolean {
  const family = typoTables().familyOfHead.get(headOf(domain));
  return family !== undefined && family.weight >= ACCENTED_WEIGHT_MIN && family.tails.has(tailOf(domain));
}
