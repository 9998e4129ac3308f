import { readFileSync } from "node:fs";

/**
 * The files beside a database in WAL mode, as https://www.sqlite.org/walformat.html describes them: offsets in bytes,
 * numbers of the log big-endian, those of its index in the machine's order.
 */
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const INDEX_FRAMES_AT = 16;
const BIG_ENDIAN_SUMS = 0x377f0683;

/**
 * Returns whether the log, as it can be read now, holds every frame that its index knows, each with the checksum that
 * it was written with. After a failed sync the system may have dropped pages that it took before, and reading gives
 * what was there earlier.
 */
export function isLogWhole(databasePath: string): boolean {
  const index = readFileSync(`${databasePath}-shm`);
  const frames = new Uint32Array(index.buffer.slice(index.byteOffset, index.byteOffset + 48))[
    INDEX_FRAMES_AT / 4
  ];
  if (frames === undefined) return false;
  if (frames === 0) return true;
  const bytes = readFileSync(`${databasePath}-wal`);
  const log = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (log.byteLength < LOG_HEADER_BYTES) return false;
  const isLittleEndian = log.getUint32(0) !== BIG_ENDIAN_SUMS;
  const pageBytes = log.getUint32(8);
  if (log.byteLength < LOG_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + pageBytes)) return false;
  let sum = checksum(log, 0, LOG_HEADER_BYTES - 8, isLittleEndian, [0, 0]);
  if (!isSumAt(log, LOG_HEADER_BYTES - 8, sum)) return false;
  for (let frame = 0; frame < frames; frame += 1) {
    const at = LOG_HEADER_BYTES + frame * (FRAME_HEADER_BYTES + pageBytes);
    const isOfThisLog =
      log.getUint32(at + 8) === log.getUint32(16) && log.getUint32(at + 12) === log.getUint32(20);
    sum = checksum(log, at, 8, isLittleEndian, sum);
    sum = checksum(log, at + FRAME_HEADER_BYTES, pageBytes, isLittleEndian, sum);
    if (!isOfThisLog || !isSumAt(log, at + 16, sum)) return false;
  }
  return true;
}

type Sum = readonly [number, number];

function checksum(log: DataView, at: number, length: number, isLittleEndian: boolean, sum: Sum): Sum {
  let [one, two] = sum;
  for (let offset = at; offset < at + length; offset += 8) {
    one = (one + log.getUint32(offset, isLittleEndian) + two) >>> 0;
    two = (two + log.getUint32(offset + 4, isLittleEndian) + one) >>> 0;
  }
  return [one, two];
}

function isSumAt(log: DataView, at: number, [one, two]: Sum): boolean {
  return log.getUint32(at) === one && log.getUint32(at + 4) === two;
}
