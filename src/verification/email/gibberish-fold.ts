/** Latin letters without a Unicode decomposition. */
const wholeLetters: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  þ: "th",
  ł: "l",
  ħ: "h",
  ı: "i",
  ŋ: "ng",
  ə: "e",
};
const marks = /\p{M}+/gu;
const whole = /[ßæœøđðþłħıŋə]/g;

/** Returns Latin text in lower case and without accents (NFKD); letters of other scripts are unchanged. */
export function foldToAscii(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFKD")
    .replace(marks, "")
    .replace(whole, (letter) => wholeLetters[letter] ?? letter);
}
