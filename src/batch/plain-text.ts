export const QUOTE = 0x22;
const SPACE = 0x20;

/**
 * Texts that are read by one call. A call that reads all of a large body would be compiled in the middle of it, and leave
 * what was compiled at its end: the runtime compiles it anew for each body, and reads a third of that uncompiled.
 */
export const READ_AT_ONCE = 500;

/** The place of the next quote, or -1 where it is missing or a character before it is one that JSON does not allow. */
export function endOfText(body: string, start: number): number {
  for (let at = start; at < body.length; at++) {
    const code = body.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code < SPACE) return -1;
  }
  return -1;
}
