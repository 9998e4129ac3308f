import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { readBodyBytes } from "./body-file.ts";

/** The folder of the data directory in which the bodies of kept replies are files. */
export const REPLY_FOLDER = "idempotency";

/** What is larger stays behind: its row would take more memory than nodes have for a reply. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Returns the file of a body as its row keeps it in a database that several nodes share: as it is, for it is encrypted
 * with a key of the caller. Null where it is gone or too large.
 */
export function carriedBody(dataDir: string, name: string): string | null {
  const path = join(dataDir, REPLY_FOLDER, name);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? Number.POSITIVE_INFINITY;
  return size > FILE_BYTES_MAX ? null : readFileSync(path, "base64");
}

/** Reads a body that was carried over. */
export function readCarriedBody(body: string, secret: string, name: string): ReadableStream<Uint8Array> {
  return readBodyBytes(Buffer.from(body, "base64"), secret, name);
}
