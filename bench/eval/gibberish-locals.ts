/** Local parts to evaluate the gibberish score with: people's, of lists no table was fitted on, and makers of random text. */
import { allLocales, type LocaleDefinition } from "@faker-js/faker";
import { seededRandom, tokenGroups, tokensIn } from "../../src/tools/data-refresh/gibberish-corpus.ts";
import abbreviationsText from "../../test/vectors/gibberish/abbreviations.txt" with { type: "text" };
import namesText from "../../test/vectors/gibberish/names.txt" with { type: "text" };
import vowellessNamesText from "../../test/vectors/gibberish/vowelless-names.txt" with { type: "text" };
import wordsText from "../../test/vectors/gibberish/words.txt" with { type: "text" };
import { transliterated } from "./gibberish-transliteration.ts";

export type NameGroup = { readonly name: string; readonly first: string[]; readonly last: string[] };
export type LocalGroup = { readonly name: string; readonly locals: string[] };
export type Random = () => number;

/** None of these is among the locales the tables are fitted on; other scripts are written in Latin letters by rule. */
const heldOutLocales = [
  "af_ZA",
  "az",
  "el",
  "en_HK",
  "eo",
  "fr_CH",
  "hy",
  "ka_GE",
  "ko",
  "ku_kmr_latin",
  "mk",
  "nl_BE",
  "pt_PT",
  "ro_MD",
  "ru",
  "sk",
  "sl_SI",
  "sr_RS_latin",
  "sv",
  "uk",
  "uz_UZ_latin",
  "zu_ZA",
] as const;

function rowsOf(text: string): string[][] {
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split("\t"));
}

/** Locals written out in the vectors: roles, identifiers, words, brands, places, nicknames. */
export function writtenGroups(): LocalGroup[] {
  return rowsOf(wordsText).map(([name = "", locals = ""]) => ({ name, locals: locals.split(" ") }));
}

/** Words of business without vowels, which took no part in the choice of the known ones. */
export function heldOutAbbreviations(): LocalGroup {
  return {
    name: "abbreviations",
    locals: rowsOf(abbreviationsText).flatMap(([line = ""]) => line.split(" ")),
  };
}

/** Returns a function that lists the tokens of a value that the tables were not fitted on. */
function unseenTokens(): (value: unknown) => string[] {
  const seen = new Set(
    tokenGroups(seededRandom(1)).flatMap((group) =>
      /^(pinyin|kana)$/.test(group.name) ? [] : [...group.first, ...group.last, ...group.words],
    ),
  );
  return (value) => [...tokensIn(value)].filter((token) => token.length > 2 && !seen.has(token));
}

function writtenNames(text: string, unseen: (value: unknown) => string[]): NameGroup[] {
  return rowsOf(text).map(([name = "", first, last]) => ({
    name,
    first: unseen(first),
    last: unseen(last),
  }));
}

/** Names that people write without vowels; no list of names that are spoken resembles them. */
export function heldOutVowellessNames(): NameGroup[] {
  return writtenNames(vowellessNamesText, unseenTokens());
}

/** Names of held-out locales and of the vectors, without any token the tables were fitted on. */
export function heldOutNames(): NameGroup[] {
  const unseen = unseenTokens();
  const fromLocales = heldOutLocales.map((name) => {
    const locale: LocaleDefinition = allLocales[name];
    const latin = (value: unknown) => unseen(JSON.parse(transliterated(JSON.stringify(value ?? []))));
    return { name, first: latin(locale.person?.first_name), last: latin(locale.person?.last_name) };
  });
  return [...fromLocales, ...writtenNames(namesText, unseen)].filter(
    (group) => group.first.length > 0 && group.last.length > 0,
  );
}

export function oneOf<T>(list: readonly T[], random: Random): T {
  const chosen = list[Math.floor(random() * list.length)];
  if (chosen === undefined) throw new Error("cannot choose from an empty list");
  return chosen;
}

const habits: readonly ((first: string, last: string, number: string) => string)[] = [
  (first, last) => `${first}.${last}`,
  (first, last) => `${first}${last}`,
  (first, last) => `${first[0]}${last}`,
  (first, last) => `${first[0]}.${last}`,
  (first, last) => `${first}_${last}`,
  (first, last) => `${last}.${first}`,
  (first, last) => `${first}${last[0]}`,
  (first) => first,
  (_, last) => last,
  (first, _, number) => `${first}${number}`,
  (first, last, number) => `${first}.${last}${number}`,
  (first, last, number) => `${first[0]}${last}${number}`,
  (_, last, number) => `${last}${1960 + Number(number)}`,
  (first, last) => `${first[0]}${last[1]}${last}`,
  (first, last) => `${last}${first}`,
  (first, last) => `${first}-${last}`,
];

/** Mailbox names as people build them from one first and one last name. */
export function habitualLocal(group: NameGroup, random: Random): string {
  const number = String(1 + Math.floor(random() * 59));
  return oneOf(habits, random)(oneOf(group.first, random), oneOf(group.last, random), number);
}

function drawn(alphabet: string, length: number, random: Random): string {
  let text = "";
  while (text.length < length) text += alphabet[Math.floor(random() * alphabet.length)];
  return text;
}

const letters = "abcdefghijklmnopqrstuvwxyz";
const keyRows = [
  ["qwertyuiop", "asdfghjkl", "zxcvbnm"],
  ["qwertzuiop", "asdfghjkl", "yxcvbnm"],
  ["azertyuiop", "qsdfghjklm", "wxcvbn"],
];

/** Whole stretches of rows, forwards or backwards, or columns from left to right. */
function keyboardWalk(length: number, random: Random): string {
  const rows = oneOf(keyRows, random);
  if (random() < 0.25) {
    const column = (x: number) => `${(x + 1) % 10}${rows.map((row) => row[x] ?? "").join("")}`;
    const start = Math.floor(random() * 5);
    return [0, 1, 2, 3]
      .map((step) => column(start + step))
      .join("")
      .slice(0, length);
  }
  let text = "";
  while (text.length < length) {
    const row = oneOf(rows, random);
    const stretch = Math.min(length - text.length, 4 + Math.floor(random() * 6));
    const start = Math.floor(random() * Math.max(1, row.length - stretch + 1));
    const piece = row.slice(start, start + stretch);
    text += random() < 0.3 ? [...piece].reverse().join("") : piece;
  }
  return text;
}

function mixOfLettersAndDigits(length: number, random: Random): string {
  let text = "";
  while (text.length < length) {
    text +=
      drawn(letters, 1 + Math.floor(random() * 3), random) +
      drawn("0123456789", 1 + Math.floor(random() * 2), random);
  }
  return text.slice(0, length);
}

export const generators: readonly (readonly [
  name: string,
  make: (length: number, random: Random) => string,
])[] = [
  ["letters", (length, random) => drawn(letters, length, random)],
  ["alphanumerics", (length, random) => drawn(`${letters}0123456789`, length, random)],
  ["hexadecimal", (length, random) => drawn("0123456789abcdef", length, random)],
  ["keyboard walks", keyboardWalk],
  ["consonants", (length, random) => drawn("bcdfghjklmnpqrstvwxz", length, random)],
  ["letters and digits", mixOfLettersAndDigits],
  ["mashed home row", (length, random) => drawn("asdfghjkl", length, random)],
  ["mashed keys", (length, random) => drawn("asdfjklqweruiopghzxnm", length, random)],
  [
    "mixed case base62",
    (length, random) => drawn(`${letters}${letters.toUpperCase()}0123456789`, length, random),
  ],
  ["one letter", (length, random) => drawn(letters, 1, random).repeat(length)],
  ["repeated piece", (length, random) => drawn(letters, 3, random).repeat(6).slice(0, length)],
];

/** Pronounceable by construction; shown for the record, no n-gram separates these from names. */
export function pronounceable(length: number, random: Random): string {
  let text = "";
  while (text.length < length) text += drawn("bcdfghjklmnprstvz", 1, random) + drawn("aeiou", 1, random);
  return text.slice(0, length);
}
