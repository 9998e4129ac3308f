import { digitOf } from "../unicode-digits.ts";

/** The text with all digits, raised, circled or of another script, as 0 to 9; marks and letters stay what they are. */
export function foldDigits(text: string): string {
  return text.replace(/[^\P{N}0-9]+/gu, (characters) =>
    characters.normalize("NFKC").replace(/[^\P{Nd}0-9]/gu, digitOf),
  );
}
