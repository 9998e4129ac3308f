import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";

/** Writes a file that its owner alone may read. A crash leaves the whole file or none. */
export function writePrivateFile(path: string, text: string): void {
  const file = openSync(`${path}.new`, "w", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
}
