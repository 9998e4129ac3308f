/** One item of a batch: a text, or a document as its type (null to detect it) and its value. */
export type Item = string | readonly [type: string | null, value: string];

/**
 * Items in the order of the request, each a view into a text: copying them out would take memory, and a tenth of the time
 * of verifying an address.
 */
export type Items = {
  readonly count: number;
  /** The text that contains an item, or a document's value, and where the item starts and ends in it. */
  readonly source: (position: number) => string;
  readonly start: (position: number) => number;
  readonly end: (position: number) => number;
  /** Returns the key of an item, which it shares with its duplicates alone. */
  readonly identity: (position: number) => string;
  /** Returns a range of items as a JSON array: strings, or documents as `readDocuments` reads them; long ones shortened. */
  readonly json: (start: number, end: number) => string;
};

/**
 * A longer item is truncated before it is verified and echoed, so that replies do not grow with refused input. It exceeds
 * the body of a single check and every limit of length.
 */
export const ITEM_UNITS_MAX = 131_072;

/** Returns the text up to the maximum, which is over every limit of length, without half a character at the end. */
export function shortened(text: string): string {
  if (text.length <= ITEM_UNITS_MAX) return text;
  const isHalved = (text.charCodeAt(ITEM_UNITS_MAX - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isHalved ? ITEM_UNITS_MAX - 1 : ITEM_UNITS_MAX);
}

function shortenedItem(item: Item): Item {
  return typeof item === "string" ? shortened(item) : [item[0], shortened(item[1])];
}

/** Returns a range of texts as a JSON array, long ones shortened. */
export function shortenedJson(textAt: (position: number) => string, first: number, past: number): string {
  const texts: string[] = [];
  for (let at = first; at < past; at++) texts.push(shortened(textAt(at)));
  return JSON.stringify(texts);
}

/** Creates items from separate texts. */
export function listedItems(items: readonly Item[]): Items {
  const textAt = (position: number): string => {
    const item = items[position] ?? "";
    return typeof item === "string" ? item : item[1];
  };
  return {
    count: items.length,
    source: textAt,
    start: () => 0,
    end: (position) => textAt(position).length,
    identity(position) {
      const item = items[position] ?? "";
      return typeof item === "string" ? item : `${item[0] ?? ""}\n${item[1]}`;
    },
    json: (start, end) => JSON.stringify(items.slice(start, end).map(shortenedItem)),
  };
}

/**
 * Creates items from texts within JSON, without escapes and with the same separator between all. `starts` has their starts,
 * and the one after the last.
 */
export function itemsWithin(json: string, starts: Uint32Array, separator: string): Items {
  const start = (position: number) => starts[position] ?? 0;
  const end = (position: number) => (starts[position + 1] ?? 0) - separator.length;
  const identity = (position: number) => json.slice(start(position), end(position));
  return {
    count: starts.length - 1,
    source: () => json,
    start,
    end,
    identity,
    json(first, past) {
      let isLong = false;
      for (let at = first; at < past && !isLong; at++) isLong = end(at) - start(at) > ITEM_UNITS_MAX;
      if (!isLong) return `[${json.slice(start(first) - 1, end(past - 1) + 1)}]`;
      return shortenedJson(identity, first, past);
    },
  };
}

/** Reads `count` texts that `json` has written. */
export function readTexts(json: string, count: number): Items {
  if (json.includes("\\") || !json.startsWith('["')) return listedItems(JSON.parse(json));
  const separator = separatorIn(json);
  const starts = new Uint32Array(count + 1);
  let start = '["'.length;
  for (let position = 0; position < count; position++) {
    starts[position] = start;
    const end = json.indexOf(separator, start);
    start = (end === -1 ? json.length - '"]'.length : end) + separator.length;
  }
  starts[count] = start;
  return itemsWithin(json, starts, separator);
}

/** Returns the separator between the first two texts: a comma between quotes, with white space. */
function separatorIn(json: string): string {
  const end = json.indexOf('"', '["'.length);
  const start = json.indexOf('"', end + 1);
  return start === -1 ? '","' : json.slice(end, start + 1);
}
