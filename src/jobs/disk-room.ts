import { statfs } from "node:fs/promises";
import type { Answer } from "../platform/answer.ts";

/** Whether a disk takes more of what jobs keep. A reserve is left to everything else that is written there. */
export type DiskRoom = {
  /** Whether rows may be written. */
  readonly isLeft: () => Promise<boolean>;
  /** Whether jobs may go on that waited for room: it takes twice as much, so that they do not stop again at once. */
  readonly isBack: () => Promise<boolean>;
};

export type DiskRoomDependencies = {
  /** A folder of the disk. */
  readonly folder: string;
  /** Bytes that the store's own files have free inside. */
  readonly freeInside: () => Answer<number>;
};

/** Far more than the log of the database, which can be emptied only where the database can grow by it. */
const RESERVE_BYTES_MAX = 67_108_864;
/** Of a small disk. */
const RESERVE_PART = 1 / 4;

/** Where jobs are kept on another machine, whose disk cannot be asked: a write that fails says so. */
export const ROOM_ELSEWHERE: DiskRoom = {
  isLeft: () => Promise.resolve(true),
  isBack: () => Promise.resolve(true),
};

/** A disk that cannot be asked has room: a write that fails says so too. */
export function createDiskRoom({ folder, freeInside }: DiskRoomDependencies): DiskRoom {
  async function has(reserves: number): Promise<boolean> {
    const disk = await statfs(folder).catch(() => null);
    if (disk === null) return true;
    const reserveBytes = Math.min(RESERVE_BYTES_MAX, disk.blocks * disk.bsize * RESERVE_PART);
    const freeBytes = disk.bavail * disk.bsize;
    if (freeBytes >= reserveBytes * reserves) return true;
    // What was erased leaves room in the file, but its log grows on the disk first.
    return freeBytes >= reserveBytes / 2 && (await freeInside()) >= reserveBytes * reserves;
  }

  return { isLeft: () => has(1), isBack: () => has(2) };
}
