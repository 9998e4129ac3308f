import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";

/** Reads a JSON file; null where it is missing, undefined where it is not JSON. */
export function readStateFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return null;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Writes a file of JSON in one step: it is the former one or the new one, whatever happens. */
export function writeStateFile(path: string, state: object): void {
  const fd = openSync(`${path}.new`, "w");
  try {
    writeFileSync(fd, `${JSON.stringify(state)}\n`);
    // A rename may reach the disk before the bytes: a power failure would leave the file empty.
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(`${path}.new`, path);
}
