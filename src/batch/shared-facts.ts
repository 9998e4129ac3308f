import type { KnownDomain } from "../domains/known-domains.ts";
import type { SharedBuffer } from "./messages.ts";

/**
 * Memory that the threads share, to which the facts of a domain are written once: a batch then only says where they
 * are, and a thread reads each of them once.
 */
export type FactsBuffer = {
  /** Writes the facts of a domain, unless they are there, and returns where they are. */
  readonly put: (domain: KnownDomain) => FactsOffset;
};

export type FactsOffset = {
  readonly buffer: SharedBuffer;
  /** From 1 on, another for each text. */
  readonly key: number;
  readonly start: number;
  readonly end: number;
};

/** A thread that receives a buffer counts all of it as memory in use, for each chunk anew: so buffers are small. */
const BUFFER_BYTES = 128 * 1024;
/** Facts on buffers older than these are written again when they are needed. */
const BUFFERS_MAX = 128;

/** A buffer is only ever added to, and a full one is followed by another. */
export function createFactsBuffer(bufferBytes = BUFFER_BYTES, buffersMax = BUFFERS_MAX): FactsBuffer {
  const known = new WeakMap<KnownDomain, FactsOffset>();
  const buffers: SharedBuffer[] = [];
  let nextKey = 1;
  let bytes: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  let used = 0;

  function addBuffer(bytesMin: number): SharedBuffer {
    const buffer = { firstKey: nextKey, memory: new SharedArrayBuffer(Math.max(bufferBytes, bytesMin)) };
    buffers.push(buffer);
    if (buffers.length > buffersMax) buffers.shift();
    bytes = Buffer.from(buffer.memory);
    used = 0;
    return buffer;
  }

  return {
    put(domain) {
      const written = known.get(domain);
      if (written !== undefined && written.key >= (buffers[0]?.firstKey ?? 0)) return written;
      const length = Buffer.byteLength(domain.json);
      const last = used + length > bytes.byteLength ? undefined : buffers.at(-1);
      const buffer = last ?? addBuffer(length);
      const offset = { buffer, key: nextKey, start: used, end: used + bytes.write(domain.json, used) };
      nextKey += 1;
      used = offset.end;
      known.set(domain, offset);
      return offset;
    },
  };
}
