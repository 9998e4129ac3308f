/**
 * A pool of shared memory for bodies, which threads read without a copy. Buffers are reused: as garbage of megabytes they
 * would trigger full collections, each 10 to 30 ms of the main thread.
 */
export type BodyRooms = {
  /**
   * Returns a buffer for this many bytes of a body of up to `wholeBytes`, and for at most eight times as many: a declared
   * length reserves no memory. It may contain bytes of another body.
   */
  readonly take: (neededBytes: number, wholeBytes: number) => SharedArrayBuffer;
  /** Returns a buffer to the pool; to be called when nothing reads it any more. */
  readonly giveBack: (room: SharedArrayBuffer) => void;
};

const ROOM_BYTES_MIN = 1_048_576;
/** Rounded up to a power of two it is at most eight. */
const ROOM_RATIO = 4;
/** Bytes of the pool: two of the largest bodies. */
const KEPT_BYTES_MAX = 67_108_864;
const KEPT_MS = 10_000;

export function createBodyRooms(): BodyRooms {
  /** In ascending order of size. */
  let kept: SharedArrayBuffer[] = [];
  let forgetting: ReturnType<typeof setTimeout> | undefined;

  /** Returns the smallest buffer that fits the whole body, else the largest. */
  function takeKept(neededBytes: number, wholeBytes: number): SharedArrayBuffer | undefined {
    const enough = kept.findIndex(({ byteLength }) => byteLength >= wholeBytes);
    const at = enough === -1 ? kept.length - 1 : enough;
    return (kept[at]?.byteLength ?? 0) < neededBytes ? undefined : kept.splice(at, 1)[0];
  }

  return {
    take(neededBytes, wholeBytes) {
      const wanted = Math.min(wholeBytes, neededBytes * ROOM_RATIO);
      // Untouched pages take no memory.
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
