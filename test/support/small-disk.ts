import { chmodSync, closeSync, openSync, rmSync, statSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./process.ts";

/** A file system of its own that is soon full. */
export type SmallDisk = Disposable & {
  readonly path: string;
  /** Takes all the room that is there, but for so many bytes. */
  readonly fill: (leftBytes?: number) => void;
  /** Gives it back. */
  readonly free: () => void;
  readonly remount: (option: "ro" | "rw") => void;
};

/** Mounts a small tmpfs, or writes to standard output that this is not allowed here and returns null. */
export function mountSmallDisk(megabytes: number): SmallDisk | null {
  const folder = temporaryFolder("disk");
  const mounted = run("mount", "-t", "tmpfs", "-o", `size=${megabytes}m,mode=0700`, "tmpfs", folder.path);
  if (!mounted) {
    folder[Symbol.dispose]();
    process.stdout.write("Skipped: mounting a tmpfs is not allowed here.\n");
    return null;
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

/** A folder that this user cannot write to, or null (said on standard output) where there is no way to make one. */
export function readOnlyFolder(): (Disposable & { readonly path: string }) | null {
  if (process.getuid?.() !== 0) {
    const folder = temporaryFolder("read-only");
    chmodSync(folder.path, 0o500);
    return folder;
  }
  // Mode bits do not bind root.
  const disk = mountSmallDisk(1);
  disk?.remount("ro");
  return disk;
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
