import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { REPLY_FOLDER } from "../store/data-folders.ts";
import { readBodyBytes } from "./body-file.ts";

/** Larger bodies are not migrated: their rows would take more memory than nodes have for a reply. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Returns the bytes of a body's file for its row in a database that nodes share: unchanged, as they are encrypted with the
 * caller's key. Null where the file is missing or too large.
 */
export function carriedBody(dataDir: string, name: string): string | null {
  const path = join(dataDir, REPLY_FOLDER, name);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? Number.POSITIVE_INFINITY;
  return size > FILE_BYTES_MAX ? null : readFileSync(path, "base64");
}

/** Reads a body that was migrated into its row. */
export function readCarriedBody(body: string, secret: string, name: string): ReadableStream<Uint8Array> {
  return readBodyBytes(Buffer.from(body, "base64"), secret, name);
}
