/** A line of a body, without its end; where the next one starts; and its number, from one. */
export type Line = { start: number; end: number; next: number; number: number };

/** Creates the place before the first line. */
export function beforeFirstLine(): Line {
  return { start: 0, end: 0, next: 0, number: 0 };
}

/** Moves to the next line with more than white space; false where there is none. */
export function toNextLine(text: string, line: Line): boolean {
  while (line.next < text.length) {
    const start = line.next;
    const visible = afterBlanks(text, start);
    const first = text.charCodeAt(visible);
    const newline = first === NEWLINE ? visible : text.indexOf("\n", visible);
    const end = newline === -1 ? text.length : newline;
    line.start = start;
    line.end = end > start && text.charCodeAt(end - 1) === RETURN ? end - 1 : end;
    line.next = end + 1;
    line.number += 1;
    if (first > SPACE && first < DELETE) return true;
    if (first !== NEWLINE && text.slice(line.start, line.end).trim() !== "") return true;
  }
  return false;
}

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const DELETE = 0x7f;

const isBlank = (code: number): boolean => code === SPACE || code === TAB || code === RETURN;

/** The place of the first character from here on that is no blank: a body may be nothing but empty lines. */
function afterBlanks(text: string, start: number): number {
  let at = start;
  while (isBlank(text.charCodeAt(at))) at += 1;
  return at;
}
