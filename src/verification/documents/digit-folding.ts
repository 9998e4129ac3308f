import { digitOf } from "../unicode-digits.ts";

/** Folds all digits, superscript, circled or of another script, to 0 to 9; other characters are unchanged. */
export function foldDigits(text: string): string {
  return text.replace(/[^\P{N}0-9]+/gu, (characters) =>
    characters.normalize("NFKC").replace(/[^\P{Nd}0-9]/gu, digitOf),
  );
}
