/** Returns a text with its percent escapes decoded, or null where one of them is no escape of UTF-8. */
export function decodePercent(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
