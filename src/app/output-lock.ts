import { closeSync, openSync, rmSync, statSync } from "node:fs";
import { type FileLock, lockFile } from "../store/sqlite/data-dir/file-lock.ts";

/**
 * Takes an output for this process alone, by a lock on a file beside it, until it is disposed of or the process ends. Null
 * where another process has it. Nothing is locked where the output is no regular file, its folder takes no file, or the
 * file system has no locks.
 */
export function lockOutput(output: string): Disposable | null {
  const before = statSync(output, { throwIfNoEntry: false });
  if (before !== undefined && !before.isFile()) return UNLOCKED;
  const path = `${output}.resume.lock`;
  for (;;) {
    const inode = madeInode(path);
    if (inode === null) return UNLOCKED;
    const lock = lockIfPossible(path);
    if (lock === null) return null;
    if (lock === "impossible") return UNLOCKED;
    // Who had it before may have removed the file that is locked now, and a third one made another.
    if (inodeOf(path) === inode) return removedWithLock(path, lock);
    lock.release();
  }
}

const UNLOCKED: Disposable = { [Symbol.dispose]() {} };

/** Makes the file where it is missing; null where that cannot be. */
function madeInode(path: string): number | null {
  try {
    closeSync(openSync(path, "a", 0o600));
    return inodeOf(path) ?? madeInode(path);
  } catch {
    return null;
  }
}

function inodeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? null;
}

function lockIfPossible(path: string): FileLock | null | "impossible" {
  try {
    return lockFile(path);
  } catch {
    return "impossible";
  }
}

/** The file goes while it is still locked: another process could have taken it by then. */
function removedWithLock(path: string, lock: FileLock): Disposable {
  const remove = () => rmSync(path, { force: true });
  process.once("exit", remove);
  return {
    [Symbol.dispose]() {
      process.off("exit", remove);
      remove();
      lock.release();
    },
  };
}
