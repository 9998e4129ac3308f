import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { REPLY_FOLDER } from "../store/data-folders.ts";
import { type BodyFrames, createBodyFrames, readFrames } from "./body-frames.ts";

/** Larger bodies are not migrated: their rows would take more memory than nodes have for a reply. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;

/** Writes a body for its row, where nodes share a database and no files. */
export type RowBody = {
  /** Takes ownership of the bytes. */
  readonly append: BodyFrames["append"];
  /** Returns what the row holds. */
  readonly finish: () => Promise<string>;
};

/** Creates the body of a row. `take` is called with what it adds to the row; it throws where there is no room. */
export function createRowBody(options: {
  readonly secret: string;
  readonly name: string;
  readonly bodyBytesMax: number;
  readonly take: (bytes: number) => void;
}): RowBody {
  const { take } = options;
  const written: Uint8Array[] = [];
  let bytesWritten = 0;
  const frames = createBodyFrames({
    ...options,
    write: async (bytes) => {
      take(base64Length(bytesWritten + bytes.byteLength) - base64Length(bytesWritten));
      bytesWritten += bytes.byteLength;
      written.push(bytes);
      await nextTurn();
    },
  });
  return {
    append: frames.append,
    finish: async () => {
      await frames.finish();
      return Buffer.concat(written, bytesWritten).toString("base64");
    },
  };
}

/**
 * Returns the bytes of a body's file for its row in a database that nodes share: unchanged, as they are encrypted with the
 * caller's key. Null where the file is missing or too large.
 */
export function migratedBody(dataDir: string, name: string): string | null {
  const path = join(dataDir, REPLY_FOLDER, name);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? Number.POSITIVE_INFINITY;
  return size > FILE_BYTES_MAX ? null : readFileSync(path, "base64");
}

/** Reads the body of a row, whose frames were written under the name. */
export function readRowBody(body: string, secret: string, name: string): ReadableStream<Uint8Array> {
  const whole = Buffer.from(body, "base64");
  let at = 0;
  return readFrames(secret, name, {
    take: async (bytes) => {
      at += bytes;
      if (at > whole.byteLength) throw new Error("it is cut off");
      return whole.subarray(at - bytes, at);
    },
    close: async () => undefined,
  });
}

const base64Length = (bytes: number) => Math.ceil(bytes / 3) * 4;
