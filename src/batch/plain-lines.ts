import { ITEM_UNITS_MAX, type Items, shortened } from "./items.ts";
import type { BodyForm } from "./messages.ts";
import { endOfText, QUOTE } from "./plain-text.ts";

/** A line of a body, without its end; where the next one starts; and its number, from one. */
export type Line = { start: number; end: number; next: number; number: number };

/** Creates the place before the first line. */
export function beforeFirstLine(): Line {
  return { start: 0, end: 0, next: 0, number: 0 };
}

/** Goes on to the next line that holds more than white space; false where there is none. */
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

/**
 * Reads lines that are each a text: of plain text any, of NDJSON a string without an escape. Nothing is copied out: to
 * parse each line of NDJSON takes a tenth of the time of chunking a batch. Null where a line is no such string, and where
 * there are more than `itemsMax`.
 */
export function readPlainLines(
  form: Exclude<BodyForm, "json">,
  text: string,
  itemsMax: number,
): Items | null {
  if (form === "ndjson" && text.includes("\\")) return null;
  const around = form === "ndjson" ? 1 : 0;
  const countMax = Math.min(itemsMax, Math.ceil(text.length / 2));
  const places: Places = {
    starts: new Uint32Array(countMax),
    ends: new Uint32Array(countMax),
    count: 0,
    around,
  };
  const line = beforeFirstLine();
  while (line.next < text.length) if (!readSome(text, line, places)) return null;
  return itemsAt(text, places);
}

type Places = {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  count: number;
  /** Characters on either side of an item that are not of it: quotes. */
  readonly around: 0 | 1;
};

/** As many as `READ_AT_ONCE` of plain-list.ts, for the reason given there. */
const READ_AT_ONCE = 500;

/** Reads on, to the end at most; false where a line is no such text, or one too many. */
function readSome(text: string, line: Line, places: Places): boolean {
  const { starts, ends, around } = places;
  const countMax = places.count + READ_AT_ONCE;
  while (places.count < countMax && toNextLine(text, line)) {
    if (places.count === starts.length) return false;
    if (around > 0 && !isPlainString(text, line)) return false;
    starts[places.count] = line.start + around;
    ends[places.count] = line.end - around;
    places.count += 1;
  }
  return true;
}

function isPlainString(text: string, { start, end }: Line): boolean {
  return text.charCodeAt(start) === QUOTE && end - start >= 2 && endOfText(text, start + 1) === end - 1;
}

function itemsAt(text: string, { starts, ends, count, around }: Places): Items {
  const start = (position: number) => starts[position] ?? 0;
  const end = (position: number) => ends[position] ?? 0;
  const slice = (position: number) => text.slice(start(position), end(position));
  const between = around + 1 + around;
  /** Whether nothing stands between items but one newline, and no item is to be shortened. */
  const isPlain = (first: number, past: number) => {
    for (let at = first; at < past; at++) {
      if (end(at) - start(at) > ITEM_UNITS_MAX) return false;
      if (at > first && start(at) - end(at - 1) !== between) return false;
    }
    return true;
  };
  return {
    count,
    source: () => text,
    start,
    end,
    identity: slice,
    json(first, past) {
      if (isPlain(first, past)) {
        const lines = text.slice(start(first) - around, end(past - 1) + around);
        return around > 0 ? `[${lines.replaceAll("\n", ",")}]` : JSON.stringify(lines.split("\n"));
      }
      const texts: string[] = [];
      for (let at = first; at < past; at++) texts.push(shortened(slice(at)));
      return JSON.stringify(texts);
    },
  };
}
