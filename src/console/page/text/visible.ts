/** Characters that a reader would not see, or that would turn what stands around them. */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}\u200b\u2028\u2029\u2060\ufeff]/gu;

/** Writes a text of anybody's so that it looks like no other: each character that is not seen stands as `[U+202E]`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase();
    return `[U+${code.padStart(4, "0")}]`;
  });
}
