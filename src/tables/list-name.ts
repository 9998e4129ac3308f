const CHARS_MAX = 200;
/** Control characters, ends of lines, and what turns the direction of text: file names may have them, lists may not. */
const REFUSED = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/** Returns the name of a list that a file holds, without what the server refuses in one. */
export function listNameOf(fileName: string): string {
  return fileName.replace(REFUSED, "").slice(0, CHARS_MAX);
}
