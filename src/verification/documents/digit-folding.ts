/** The text with all digits, raised, circled or of another script, as 0 to 9; marks and letters stay what they are. */
export function foldDigits(text: string): string {
  return text.replace(/[^\P{N}0-9]+/gu, (characters) =>
    characters.normalize("NFKC").replace(/[^\P{Nd}0-9]/gu, digitOf),
  );
}

/** Unicode lists the digits of each script in one row, zero first, with no other digits before it. */
function digitOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(code - zero);
}
