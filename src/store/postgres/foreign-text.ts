/** Returns text from outside as the server takes it: with U+FFFD in the place of each NUL. */
export function withoutNul(text: string): string {
  return text.replaceAll("\0", "\uFFFD");
}
