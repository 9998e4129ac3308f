import { type FileHandle, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { StorageError } from "../store/storage-error.ts";

/** A body that is written piece by piece. */
export type GrowingBody = {
  readonly append: (text: string | Uint8Array) => Promise<void>;
  /** On disk under its name, also after a crash; how many bytes it has. */
  readonly finish: () => Promise<number>;
  /** Removes what there is of it. */
  readonly discard: () => Promise<void>;
};

export type ReplyFiles = {
  readonly create: (name: string) => Promise<GrowingBody>;
  readonly pathOf: (name: string) => string;
  /** Removes every file but those of `keptNames`, which is asked once the files are known. */
  readonly prune: (keptNames: () => ReadonlySet<string>) => Promise<void>;
};

const PART = ".part";

/** Bodies of kept replies as files of one directory; written under another name until they are whole. */
export function createReplyFiles(directory: string, bodyBytesMax: number): ReplyFiles {
  const pathOf = (name: string): string => join(directory, name);

  return {
    pathOf,
    create: (name) =>
      asStorage(async () => {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        return growingBody(directory, pathOf(name), bodyBytesMax);
      }),
    prune: (keptNames) =>
      asStorage(async () => {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        const names = await readdir(directory);
        const kept = keptNames();
        const lost = names.filter(
          (name) => !kept.has(name.endsWith(PART) ? name.slice(0, -PART.length) : name),
        );
        for (const name of lost) await rm(pathOf(name), { force: true });
      }),
  };
}

async function growingBody(directory: string, path: string, bodyBytesMax: number): Promise<GrowingBody> {
  const partPath = path + PART;
  const file = await open(partPath, "wx", 0o600);
  let bytes = 0;
  let isClosed = false;

  async function close(): Promise<void> {
    if (isClosed) return;
    isClosed = true;
    await file.close();
  }

  return {
    append: (text) =>
      asStorage(async () => {
        const piece = typeof text === "string" ? Buffer.from(text) : text;
        bytes += piece.byteLength;
        if (bytes > bodyBytesMax) throw new Error(`the reply is over ${bodyBytesMax} bytes`);
        await writeAll(file, piece);
      }),
    finish: () =>
      asStorage(async () => {
        await file.sync();
        await close();
        await rename(partPath, path);
        // The name is on disk only with the directory that holds it.
        const holder = await open(directory, "r");
        await holder.sync().finally(() => holder.close());
        return bytes;
      }),
    discard: () =>
      asStorage(async () => {
        await close();
        await rm(partPath, { force: true });
        await rm(path, { force: true });
      }),
  };
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  let written = 0;
  while (written < piece.byteLength) {
    written += (await file.write(piece, written)).bytesWritten;
  }
}

async function asStorage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new StorageError(`a kept reply: ${String(error)}`, { cause: error });
  }
}
