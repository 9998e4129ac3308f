/** The text the gibberish tables are fitted on: names and words that people use. */
import { createRequire } from "node:module";
import { allLocales, type LocaleDefinition } from "@faker-js/faker";
import { foldToAscii } from "../../verification/email/gibberish-fold.ts";
import handNames from "./gibberish-names.txt" with { type: "text" };
import vowellessNames from "./gibberish-vowelless-names.txt" with { type: "text" };
import handWords from "./gibberish-words.txt" with { type: "text" };

/** Locales of @faker-js/faker (MIT) the tables are fitted on; the evaluation uses none of them. */
const trainingLocales = [
  "en",
  "de",
  "es",
  "it",
  "pt_BR",
  "en_AU",
  "en_GH",
  "nl",
  "fr",
  "tr",
  "en_IN",
  "cs_CZ",
  "da",
  "hu",
  "fr_SN",
  "en_ZA",
  "pl",
  "fi",
  "id_ID",
  "lv",
  "vi",
  "en_NG",
  "es_MX",
  "hr",
  "nb_NO",
  "yo_NG",
  "ro",
] as const;

/** A language or family: what first names, last names and other words it gives. */
export type TokenGroup = {
  readonly name: string;
  /** Groups of one fold are left out together when the weights are fitted. */
  readonly fold: number;
  readonly first: readonly string[];
  readonly last: readonly string[];
  readonly words: readonly string[];
  /** Names without vowels: counted, and kept out of the fit of the weights, which would let random consonants pass. */
  readonly isVowelless?: true;
};

export const foldCount = 10;

/** Numbers from 0 up to 1, the same for the same seed on every machine. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const wordModules = ["word", "company", "commerce", "color", "hacker", "lorem"] as const;

/** Returns lower-case ASCII words of at least two letters in any nesting of lists. */
export function tokensIn(value: unknown, into: Set<string> = new Set()): Set<string> {
  if (typeof value === "string") {
    if (value.includes("{{") || value.includes("#")) return into;
    for (const word of foldToAscii(value)
      .toLowerCase()
      .split(/[^a-z]+/)) {
      if (word.length > 1) into.add(word);
    }
    return into;
  }
  if (typeof value !== "object" || value === null) return into;
  for (const part of Object.values(value)) tokensIn(part, into);
  return into;
}

function localeGroup(name: keyof typeof allLocales, fold: number): TokenGroup {
  const locale: LocaleDefinition = allLocales[name];
  const person = locale.person ?? {};
  const words = new Set<string>();
  for (const module of wordModules) tokensIn(locale[module], words);
  tokensIn(locale.location?.city_name, words);
  return {
    name,
    fold,
    first: [...tokensIn(person.first_name)],
    last: [...tokensIn(person.last_name)],
    words: [...words],
  };
}

function handGroups(text: string, asWords: boolean): TokenGroup[] {
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line, index) => {
      const [name = "", list = ""] = line.split("\t");
      const tokens = [...tokensIn(list)];
      return {
        name,
        fold: index % foldCount,
        first: asWords ? [] : tokens,
        last: asWords ? [] : tokens,
        words: asWords ? tokens : [],
      };
    });
}

const pinyinInitials = "b p m f d t n l g k h j q x zh ch sh r z c s y w".split(" ").concat("");
const pinyinFinals =
  "a o e i u ai ei ao ou an en ang eng ong ia ie iao iu ian in iang ing iong ua uo uai ui uan un uang ue".split(
    " ",
  );

function legalPinyin(initial: string, final: string): boolean {
  if (initial === "") return /^[aoe]/.test(final) && final !== "ong";
  if (/^[jqx]$/.test(initial)) return /^(i|u$|uan|un|ue)/.test(final);
  if (initial === "y") return /^(a|o|e|i|u|ao|ou|an|in|ang|ing|ong|uan|un|ue)$/.test(final);
  if (initial === "w") return /^(a|o|u|ai|ei|an|en|ang|eng)$/.test(final);
  if (/^(zh|ch|sh|r|z|c|s|g|k|h)$/.test(initial)) return !/^(i[a-z]|ue|o$)/.test(final);
  if (/^[bpmf]$/.test(initial)) return !/^(u[a-z]|ong|iang|iong|ia$|iu$)/.test(final);
  return !/^(ua|uai|uang|ui|iong|o$)/.test(final);
}

/** Names of one or two syllables of standard pinyin, and kana syllables in Hepburn spelling. */
function syllableGroups(random: () => number): TokenGroup[] {
  const pinyin = pinyinInitials.flatMap((initial) =>
    pinyinFinals.filter((final) => legalPinyin(initial, final)).map((final) => initial + final),
  );
  const kana = "k s t n h m y r w g z d b p ky sh ch ny hy my ry gy j by py ts f"
    .split(" ")
    .concat("", "")
    .flatMap((onset) => [..."aiueo"].map((nucleus) => onset + nucleus))
    .concat("n");
  const joined = (syllables: readonly string[], least: number, most: number, count: number) =>
    Array.from({ length: count }, () =>
      Array.from({ length: least + Math.floor(random() * (most - least + 1)) }, () =>
        pick(syllables, random),
      ).join(""),
    );
  return [
    { name: "pinyin", fold: 1, first: joined(pinyin, 1, 2, 1500), last: pinyin, words: [] },
    { name: "kana", fold: 3, first: joined(kana, 2, 3, 600), last: joined(kana, 2, 4, 600), words: [] },
  ];
}

export function tokenGroups(random: () => number): TokenGroup[] {
  const locales = trainingLocales.map((name, index) => localeGroup(name, index % foldCount));
  const roles = {
    name: "role-words",
    fold: 0,
    first: [],
    last: [],
    words: [...tokensIn(createRequire(import.meta.url)("role-based-email-addresses"))],
  };
  return [
    ...locales,
    ...handGroups(handNames, false),
    ...handGroups(vowellessNames, false).map((group): TokenGroup => ({ ...group, isVowelless: true })),
    ...handGroups(handWords, true),
    roles,
    ...syllableGroups(random),
  ];
}

export function pick<T>(list: readonly T[], random: () => number): T {
  const chosen = list[Math.floor(random() * list.length)];
  if (chosen === undefined) throw new Error("cannot pick from an empty list");
  return chosen;
}
