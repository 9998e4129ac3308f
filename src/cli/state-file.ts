import { readFileSync, renameSync, writeFileSync } from "node:fs";

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
  writeFileSync(`${path}.new`, `${JSON.stringify(state)}\n`);
  renameSync(`${path}.new`, path);
}
