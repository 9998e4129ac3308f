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
  const giveUp = async (next: ReadonlySet<Segment>): Promise<void> => {
    const retired = [...current].filter((segment) => {
      return segment.file !== null && segment.bytes.length > 0 && !next.has(segment);
    });
    if (retired.length === 0) return;
    await retire(retired.map(({ id }) => id));
    for (const segment of retired) {
      const { buffer } = segment.bytes;
      segment.bytes = Buffer.alloc(0);
      if (buffer.byteLength === SEGMENT_BYTES) free.push(buffer);
    }
  };
  return {
    /** Brings the texts of these rows into memory, after which they are the newest. */
    async load(rows: Rows): Promise<void> {
      const next = new Set<Segment>();
      for (const { segment } of rows.values()) next.add(segment);
      await giveUp(next);
      current = next;
      for (const segment of next) {
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

export type SegmentMemory = ReturnType<typeof createSegmentMemory>;
