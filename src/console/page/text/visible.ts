/** Characters that a reader would not see, or that would turn what stands around them. */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}\u200b\u2028\u2029\u2060\ufeff]/gu;
/** Unicode's pictures of the control characters begin here. */
const PICTURES_FROM = 0x2400;
const PICTURE_OF_DELETE = "\u2421";

/** Writes a text of anybody's so that it looks like nothing else: each character that is not seen has a sign. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(PICTURES_FROM + code);
    if (code === 0x7f) return PICTURE_OF_DELETE;
    return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
  });
}
