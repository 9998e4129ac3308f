import { statfs } from "node:fs/promises";
import type { Answer } from "../platform/answer.ts";

/** Whether a disk has room for the data of jobs. A reserve is left for everything else. */
export type DiskRoom = {
  /** Whether rows may be written. */
  readonly isLeft: () => Promise<boolean>;
  /** Whether jobs that were paused for want of room may resume: at twice the reserve, so that they do not stop again at once. */
  readonly isBack: () => Promise<boolean>;
};

export type DiskRoomDependencies = {
  /** A folder of the disk. */
  readonly folder: string;
  /** Free bytes inside the store's own files. */
  readonly freeInside: () => Answer<number>;
};

/** Far more than the database's log, which can be checkpointed only while the database has room to grow. */
const RESERVE_BYTES_MAX = 67_108_864;
/** The reserve of a small disk, as a part of it. */
const RESERVE_PART = 1 / 4;

/** For a store on another machine, whose free space is not known: a full disk shows as a failed write. */
export const ROOM_ELSEWHERE: DiskRoom = {
  isLeft: () => Promise.resolve(true),
  isBack: () => Promise.resolve(true),
};

/** A disk whose free space cannot be read counts as having room: a full one shows as a failed write. */
export function createDiskRoom({ folder, freeInside }: DiskRoomDependencies): DiskRoom {
  async function has(reserves: number): Promise<boolean> {
    const disk = await statfs(folder).catch(() => null);
    if (disk === null) return true;
    const reserveBytes = Math.min(RESERVE_BYTES_MAX, disk.blocks * disk.bsize * RESERVE_PART);
    const freeBytes = disk.bavail * disk.bsize;
    if (freeBytes >= reserveBytes * reserves) return true;
    // Erased rows leave room inside the file, but each write grows its log on the disk first.
    return freeBytes >= reserveBytes / 2 && (await freeInside()) >= reserveBytes * reserves;
  }

  return { isLeft: () => has(1), isBack: () => has(2) };
}
