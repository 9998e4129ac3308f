import { beforeFirstLine, type Line, toNextLine } from "./body-lines.ts";
import { ITEM_UNITS_MAX, type Items, shortenedJson } from "./items.ts";
import type { LinesForm } from "./messages.ts";
import { endOfText, QUOTE, READ_AT_ONCE } from "./plain-text.ts";

/**
 * Reads lines that are each a text: of plain text any, of NDJSON a string without an escape. Nothing is copied out: to
 * parse each line of NDJSON takes a tenth of the time of chunking a batch. Null where a line is no such string, and where
 * there are more than `itemsMax`.
 */
export function readPlainLines(form: LinesForm, text: string, itemsMax: number): Items | null {
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
      return shortenedJson(slice, first, past);
    },
  };
}
