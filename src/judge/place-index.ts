const { xxHash32 } = Bun.hash;

/** Leads from texts to places, which hold what the texts name. */
export type PlaceIndex = {
  /** Returns the place of a text, or -1. */
  readonly find: (text: string) => number;
  /** Returns the place that has to be given up for it, or -1. */
  readonly add: (text: string, place: number) => number;
  readonly remove: (text: string, place: number) => void;
  readonly clear: () => void;
};

const WAYS = 8;
/** Of a bucket, on average: hardly any has more than its ways. */
const FILLED_MAX = 4;

/**
 * An index of at most `placesMax` texts, less than a million, that takes one line of the processor's cache for a look-up: a
 * bucket of places, each with as much of its text's hash as there is room for. `holds` says whether a place is that of a
 * text.
 */
export function createPlaceIndex(
  placesMax: number,
  holds: (place: number, text: string) => boolean,
): PlaceIndex {
  const buckets = 2 ** Math.ceil(Math.log2(Math.max(1, placesMax / FILLED_MAX)));
  /** Places count from 1, as 0 is an empty place. */
  const placeMask = 2 ** Math.ceil(Math.log2(placesMax + 1)) - 1;
  const entries = new Int32Array(buckets * WAYS);
  const startOf = (hash: number): number => (hash & (buckets - 1)) * WAYS;

  return {
    find(text) {
      const hash = xxHash32(text);
      const start = startOf(hash);
      for (let at = start; at < start + WAYS; at += 1) {
        const entry = entries[at] ?? 0;
        // One that is empty holds no text, whatever its hash.
        if (((entry ^ hash) & ~placeMask) !== 0 || entry === 0) continue;
        const place = (entry & placeMask) - 1;
        if (holds(place, text)) return place;
      }
      return -1;
    },
    add(text, place) {
      const hash = xxHash32(text);
      const start = startOf(hash);
      let at = start;
      while (at < start + WAYS && entries[at] !== 0) at += 1;
      if (at === start + WAYS) at = start;
      const displaced = ((entries[at] ?? 0) & placeMask) - 1;
      entries[at] = (hash & ~placeMask) | (place + 1);
      return displaced;
    },
    remove(text, place) {
      const start = startOf(xxHash32(text));
      for (let at = start; at < start + WAYS; at += 1) {
        if (((entries[at] ?? 0) & placeMask) === place + 1) entries[at] = 0;
      }
    },
    clear: () => void entries.fill(0),
  };
}
