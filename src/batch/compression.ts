import { constants, crc32, deflateRawSync, zstdCompressSync } from "node:zlib";
import type { ChunkEncoding, PlainText, VerifiedChunk } from "./messages.ts";

/** Blocks of raw deflate that end at a byte and leave the stream open, so that the next can be put behind them. */
const OPEN_BLOCKS = { level: 1, finishFlush: constants.Z_SYNC_FLUSH };
const ZSTD_OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** The header of a gzip member without name or time (RFC 1952), of an unknown system. */
const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);
/** A last block that is empty. */
const LAST_BLOCK = Uint8Array.of(3, 0);
/** The polynomial of CRC-32, lowest power in the highest bit; x^0 and x^8 in the same order. */
const POLYNOMIAL = 0xedb88320;
const ONE = 0x80000000;
const X_TO_THE_8 = 0x00800000;

/** Returns the chunk with its bytes compressed, so that they can stand beside those of other chunks in one reply. */
export function compressChunk(chunk: VerifiedChunk, encoding: ChunkEncoding): VerifiedChunk {
  const { bytes } = chunk;
  const plain = { crc32: crc32(bytes), byteLength: bytes.byteLength };
  return { ...chunk, bytes: compressText(bytes, encoding), plain };
}

function compressText(bytes: Uint8Array, encoding: ChunkEncoding): Uint8Array {
  return encoding === "gzip" ? deflateRawSync(bytes, OPEN_BLOCKS) : zstdCompressSync(bytes, ZSTD_OPTIONS);
}

/** Puts the parts of a reply together, in order. */
export type ReplyWriter = {
  /** Text that is not compressed yet: little, for it is compressed where it is written. */
  readonly text: (bytes: Uint8Array) => Uint8Array;
  readonly chunk: (chunk: VerifiedChunk) => Uint8Array;
  readonly end: () => Uint8Array;
};

/** Returns a writer of text as it is, of one gzip member, or of zstd frames one behind the other. */
export function createReplyWriter(encoding: ChunkEncoding | null): ReplyWriter {
  if (encoding === "gzip") return createGzipWriter();
  const text = (bytes: Uint8Array) => (encoding === null ? bytes : compressText(bytes, encoding));
  return {
    text,
    chunk: ({ bytes, plain }) => (plain === undefined ? text(bytes) : bytes),
    end: () => new Uint8Array(0),
  };
}

function createGzipWriter(): ReplyWriter {
  let isStarted = false;
  let crc = 0;
  let byteLength = 0;
  const write = (blocks: Uint8Array, plain: PlainText): Uint8Array => {
    crc = combinedCrc32(crc, plain);
    byteLength += plain.byteLength;
    if (isStarted) return blocks;
    isStarted = true;
    return Buffer.concat([GZIP_HEADER, blocks]);
  };
  const text = (bytes: Uint8Array) =>
    write(compressText(bytes, "gzip"), { crc32: crc32(bytes), byteLength: bytes.byteLength });
  return {
    text,
    chunk: ({ bytes, plain }) => (plain === undefined ? text(bytes) : write(bytes, plain)),
    end() {
      const trailer = Buffer.alloc(8);
      trailer.writeUInt32LE(crc, 0);
      trailer.writeUInt32LE(byteLength % 2 ** 32, 4);
      return Buffer.concat([LAST_BLOCK, trailer]);
    },
  };
}

/** Returns the CRC-32 of a text followed by another: the first is moved up by the bytes of the second. */
export function combinedCrc32(before: number, after: PlainText): number {
  let power = X_TO_THE_8;
  let shift = ONE;
  for (let bytes = after.byteLength; bytes > 0; bytes = Math.floor(bytes / 2)) {
    if (bytes % 2 === 1) shift = product(shift, power);
    power = product(power, power);
  }
  return (product(before, shift) ^ after.crc32) >>> 0;
}

/** The product of two polynomials over GF(2), modulo that of CRC-32. */
function product(one: number, other: number): number {
  let sum = 0;
  let multiple = other;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((one & bit) !== 0) sum ^= multiple;
    multiple = (multiple & 1) === 1 ? (multiple >>> 1) ^ POLYNOMIAL : multiple >>> 1;
  }
  return sum >>> 0;
}
