import { LRUCache } from "lru-cache";
import { parseSpf, type SpfRecord } from "./spf-record.ts";

/** A cache of parsed SPF records: many domains share the same few, and parsing is most of an evaluation's cost. */
export type SpfRecords = {
  /** Parses a record as `parseSpf` does. */
  readonly parse: (text: string) => SpfRecord | null;
};

const RECORDS_MAX = 4096;
/** Characters of all cached texts; their parsed form takes some ten times as much. */
const CHARACTERS_MAX = 1_000_000;

export function createSpfRecords(): SpfRecords {
  const known = new LRUCache<string, { readonly record: SpfRecord | null }>({
    max: RECORDS_MAX,
    maxSize: CHARACTERS_MAX,
    sizeCalculation: (_, text) => text.length,
  });
  return {
    parse(text) {
      const before = known.get(text);
      if (before !== undefined) return before.record;
      const record = parseSpf(text);
      known.set(text, { record });
      return record;
    },
  };
}
