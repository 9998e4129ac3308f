/** Latin letters that Unicode decomposition leaves whole. */
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

/** Latin text without its accents (NFKD); letters of other scripts stay as they are. */
export function foldToAscii(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFKD")
    .replace(marks, "")
    .replace(whole, (letter) => wholeLetters[letter] ?? letter);
}
