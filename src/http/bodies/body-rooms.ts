/**
 * Memory for bodies, which threads read without a copy. It is used again: each body's own would be garbage of megabytes,
 * and the collector walks over all objects there are, 10 to 30 ms of the main thread, once such garbage has grown old.
 */
export type BodyRooms = {
  /**
   * Returns room for this many bytes of a body that may be as long as `wholeBytes`, and at most for eight times as many: what
   * is announced takes none, nor even addresses of memory. It may hold bytes of another body.
   */
  readonly take: (neededBytes: number, wholeBytes: number) => SharedArrayBuffer;
  /** Keeps room for another body; to be called when nothing reads it any more. */
  readonly giveBack: (room: SharedArrayBuffer) => void;
};

const ROOM_BYTES_MIN = 1_048_576;
/** Rounded up to a power of two it is at most eight. */
const ROOM_RATIO = 4;
/** Two of the largest bodies. */
const KEPT_BYTES_MAX = 67_108_864;
const KEPT_MS = 10_000;

export function createBodyRooms(): BodyRooms {
  /** The smallest first. */
  let kept: SharedArrayBuffer[] = [];
  let forgetting: ReturnType<typeof setTimeout> | undefined;

  /** The smallest that is enough for the whole body, else the largest. */
  function takeKept(neededBytes: number, wholeBytes: number): SharedArrayBuffer | undefined {
    const enough = kept.findIndex(({ byteLength }) => byteLength >= wholeBytes);
    const at = enough === -1 ? kept.length - 1 : enough;
    return (kept[at]?.byteLength ?? 0) < neededBytes ? undefined : kept.splice(at, 1)[0];
  }

  return {
    take(neededBytes, wholeBytes) {
      const wanted = Math.min(wholeBytes, neededBytes * ROOM_RATIO);
      // Pages that nothing was written to take no memory.
      const bytes = Math.max(ROOM_BYTES_MIN, 2 ** Math.ceil(Math.log2(wanted)));
      return takeKept(neededBytes, wholeBytes) ?? new SharedArrayBuffer(bytes);
    },
    giveBack(room) {
      const keptBytes = kept.reduce((sum, { byteLength }) => sum + byteLength, 0);
      if (keptBytes + room.byteLength > KEPT_BYTES_MAX) return;
      kept = [...kept, room].sort((one, other) => one.byteLength - other.byteLength);
      clearTimeout(forgetting);
      forgetting = setTimeout(() => {
        kept = [];
      }, KEPT_MS);
      forgetting.unref();
    },
  };
}
