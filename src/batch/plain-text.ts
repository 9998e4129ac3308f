export const QUOTE = 0x22;
const SPACE = 0x20;

/** The place of the next quote, or -1 where it is missing or a character before it is one that JSON does not allow. */
export function endOfText(body: string, start: number): number {
  for (let at = start; at < body.length; at++) {
    const code = body.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code < SPACE) return -1;
  }
  return -1;
}
