/** Bytes that are compressed together: what a part holds in memory while it arrives or is read. */
const FRAME_BYTES = 262_144;
const COMPRESSION_LEVEL = 1;

/** A part as it arrives, in compressed pieces. */
export type FrameWriter = {
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Writes what is held. */
  readonly flush: () => Promise<void>;
};

/** Compresses bytes in pieces and has each of them put away. */
export function createFrameWriter(put: (frame: Uint8Array) => Promise<void>): FrameWriter {
  let held: Uint8Array[] = [];
  let heldBytes = 0;

  async function flush(): Promise<void> {
    if (heldBytes === 0) return;
    const frame = await Bun.zstdCompress(Buffer.concat(held), { level: COMPRESSION_LEVEL });
    held = [];
    heldBytes = 0;
    await put(frame);
  }

  return {
    async write(bytes) {
      for (let at = 0; at < bytes.byteLength; ) {
        const taken = bytes.slice(at, at + FRAME_BYTES - heldBytes);
        held.push(taken);
        heldBytes += taken.byteLength;
        at += taken.byteLength;
        if (heldBytes === FRAME_BYTES) await flush();
      }
    },
    flush,
  };
}

/** Returns the bytes of a piece of at most 256 KiB. */
export function frameBytes(frame: Uint8Array): Promise<Uint8Array> {
  return Bun.zstdDecompress(new Uint8Array(frame));
}
