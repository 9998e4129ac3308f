import { chmodSync, closeSync, openSync, rmSync, statSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./process.ts";

/** A file system of its own that is soon full. */
export type SmallDisk = Disposable & {
  readonly path: string;
  /** Fills the disk up to the last `leftBytes` bytes. */
  readonly fill: (leftBytes?: number) => void;
  /** Gives it back. */
  readonly free: () => void;
  readonly remount: (option: "ro" | "rw") => void;
};

/** Whether a file system can be mounted here: root may, unless its container forbids it. */
export const canMountDisks = isMounted();

/** Whether there is a way to make a folder that this user cannot write to: mode bits do not bind root. */
export const canDenyWrites = process.getuid?.() !== 0 || canMountDisks;

if (!canMountDisks)
  console.log("SKIPPED: a tmpfs cannot be mounted here, so nothing on a full disk is tested");

/** Mounts a small tmpfs. For tests that run where `canMountDisks`. */
export function mountSmallDisk(megabytes: number): SmallDisk {
  const folder = temporaryFolder("disk");
  if (!mount(folder.path, megabytes)) {
    folder[Symbol.dispose]();
    throw new Error("a tmpfs was not mounted");
  }
  const filler = join(folder.path, "filler");
  return {
    path: folder.path,
    fill(leftBytes = 0) {
      fillUp(filler);
      truncateSync(filler, Math.max(0, statSync(filler).size - leftBytes));
    },
    free: () => rmSync(filler, { force: true }),
    remount: (option) => {
      if (!run("mount", "-o", `remount,${option}`, folder.path)) throw new Error(`no remount as ${option}`);
    },
    [Symbol.dispose]() {
      if (!run("umount", folder.path)) run("umount", "--lazy", folder.path);
      folder[Symbol.dispose]();
    },
  };
}

/** A folder that this user cannot write to. For tests that run where `canDenyWrites`. */
export function readOnlyFolder(): Disposable & { readonly path: string } {
  if (process.getuid?.() !== 0) {
    const folder = temporaryFolder("read-only");
    chmodSync(folder.path, 0o500);
    return folder;
  }
  const disk = mountSmallDisk(1);
  disk.remount("ro");
  return disk;
}

function isMounted(): boolean {
  using folder = temporaryFolder("disk");
  return mount(folder.path, 1) && run("umount", folder.path);
}

function mount(path: string, megabytes: number): boolean {
  return run("mount", "-t", "tmpfs", "-o", `size=${megabytes}m,mode=0700`, "tmpfs", path);
}

function fillUp(path: string): void {
  const file = openSync(path, "a");
  try {
    for (let bytes = 65_536; bytes >= 512; ) {
      try {
        writeSync(file, Buffer.alloc(bytes));
      } catch {
        bytes /= 2;
      }
    }
  } finally {
    closeSync(file);
  }
}

function run(...command: string[]): boolean {
  try {
    return Bun.spawnSync(command, { stdout: "ignore", stderr: "ignore" }).success;
  } catch {
    return false;
  }
}
