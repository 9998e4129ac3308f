import type { Rows } from "./row.ts";
import { SEGMENT_BYTES, type Segment } from "./shared-bytes.ts";
import { fillFrom } from "./spool.ts";

/** Lets the readers go on in the files of these segments; done when none of them looks into their memory any more. */
export type Retire = (segmentIds: readonly number[]) => Promise<void>;

/**
 * The memory of the segments that are read most: those of the newest snapshot. What a former snapshot alone has
 * is given up to the newest one, and its readers go on in the file: memory that is used again is worth more than
 * memory that is given back some time.
 */
export function createSegmentMemory(retire: Retire) {
  const free: ArrayBufferLike[] = [];
  let current: ReadonlySet<Segment> = new Set();
  return {
    /** To be called before these rows become the newest: gives up what they have no text in. */
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
    /** Brings the texts of the newest rows into memory. */
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
