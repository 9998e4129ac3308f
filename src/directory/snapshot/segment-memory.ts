import type { Rows } from "./row.ts";
import { SEGMENT_BYTES, type Segment } from "./shared-bytes.ts";
import { fillFrom } from "./spool.ts";

/** Switches readers to the files of these segments. Resolves once none of them reads the memory. */
export type Retire = (segmentIds: readonly number[]) => Promise<void>;

/**
 * Manages the memory of the segments of the newest snapshot. Memory that only former snapshots use is reused for the
 * newest, and their readers read the file: collected garbage would be returned some time later.
 */
export function createSegmentMemory(retire: Retire) {
  const free: ArrayBufferLike[] = [];
  let current: ReadonlySet<Segment> = new Set();
  return {
    /** Frees the segments that contain no text of these rows. Must be called before the rows become the newest. */
    async makeRoom(rows: Rows): Promise<void> {
      const next = segmentsOf(rows);
      const retired = [...current].filter((segment) => {
        return segment.file !== null && segment.bytes.length > 0 && !next.has(segment);
      });
      current = next;
      if (retired.length === 0) return;
      await retire(retired.map(({ id }) => id));
      for (const segment of retired) {
        const { buffer } = segment.bytes;
        segment.bytes = Buffer.alloc(0);
        if (buffer.byteLength === SEGMENT_BYTES) free.push(buffer);
      }
    },
    /** Loads the texts of the newest rows from their files. */
    load(): void {
      for (const segment of current) {
        if (segment.file === null || segment.bytes.length > 0) continue;
        const memory = free.pop() ?? new SharedArrayBuffer(Math.max(SEGMENT_BYTES, segment.length));
        const bytes = Buffer.from(memory, 0, segment.length);
        fillFrom(bytes, segment.file, 0);
        segment.bytes = bytes;
        segment.window = null;
      }
    },
  };
}

function segmentsOf(rows: Rows): ReadonlySet<Segment> {
  const segments = new Set<Segment>();
  for (const { segment } of rows.values()) segments.add(segment);
  return segments;
}
