/** Invisible characters, and those that change the direction of the text around them. */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}\u200b\u2028\u2029\u2060\ufeff]/gu;

/** Makes untrusted text unambiguous: invisible characters are shown as `[U+202E]`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase();
    return `[U+${code.padStart(4, "0")}]`;
  });
}
