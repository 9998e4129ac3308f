import { readdirSync, statSync } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StorageError } from "../../store/storage-error.ts";
import { createFrameWriter, type FrameWriter, frameBytes } from "./part-frames.ts";

/** The parts of uploads as files, one each, compressed. A part is whole or not there. */
export type PartFiles = {
  /** Writes a part beside the one with the same number, whose place it takes with `commit`. */
  readonly create: (jobId: string, n: number) => Promise<PartWriter>;
  /** Yields the bytes of a part in pieces of at most 256 KiB. */
  readonly read: (jobId: string, n: number) => AsyncGenerator<Uint8Array, void, undefined>;
  /** Removes all parts of a job, those that are being written too. */
  readonly remove: (jobId: string) => Promise<void>;
  /** The parts that a former process left; what it was writing is not among them. */
  readonly left: () => readonly LeftParts[];
};

export type LeftParts = {
  readonly jobId: string;
  /** Number → bytes of its file. */
  readonly parts: ReadonlyMap<number, number>;
};

export type PartWriter = FrameWriter & {
  /** Bytes that are in the file by now. */
  readonly storedBytes: () => number;
  /** Brings the part to the disk under its number. */
  readonly commit: () => Promise<void>;
  readonly discard: () => Promise<void>;
};

const LENGTH_BYTES = 4;
const PART_NAME = /^[1-9]\d{0,4}$/;

/** `nameFile` returns a new name at each call; all files are in `folder`, which exists. */
export function createPartFiles(folder: string, nameFile: () => string): PartFiles {
  const folderOf = (jobId: string) => join(folder, jobId);
  return {
    create: (jobId, n) => storing(() => createWriter(folderOf(jobId), `${n}`, nameFile())),

    async *read(jobId, n) {
      const file = await storing(() => open(join(folderOf(jobId), `${n}`), "r"));
      try {
        for (;;) {
          const head = await readUpTo(file, LENGTH_BYTES);
          if (head.byteLength === 0) return;
          if (head.byteLength < LENGTH_BYTES) throw endsEarly();
          const length = head.readUInt32LE(0);
          const frame = await readUpTo(file, length);
          if (frame.byteLength < length) throw endsEarly();
          yield await frameBytes(frame);
        }
      } finally {
        await file.close();
      }
    },

    remove: (jobId) => storing(() => rm(folderOf(jobId), { recursive: true, force: true })),

    left() {
      const jobs = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
      return jobs.map(({ name: jobId }) => {
        const names = readdirSync(folderOf(jobId)).filter((name) => PART_NAME.test(name));
        const sized = names.map((name) => [Number(name), statSync(join(folder, jobId, name)).size] as const);
        return { jobId, parts: new Map(sized) };
      });
    },
  };
}

async function createWriter(folder: string, name: string, temporaryName: string): Promise<PartWriter> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (made !== undefined) await syncFolder(dirname(folder));
  const path = join(folder, temporaryName);
  const file = await open(path, "wx", 0o600);
  let storedBytes = 0;
  const frames = createFrameWriter(async (frame) => {
    const head = Buffer.alloc(LENGTH_BYTES);
    head.writeUInt32LE(frame.byteLength);
    await storing(() => writeAll(file, Buffer.concat([head, frame])));
    storedBytes += LENGTH_BYTES + frame.byteLength;
  });

  return {
    ...frames,
    storedBytes: () => storedBytes,
    commit: () =>
      storing(async () => {
        await file.sync();
        await file.close();
        await rename(path, join(folder, name));
        await syncFolder(folder);
      }),
    async discard() {
      // Closed already where the commit failed.
      await file.close().catch(() => undefined);
      await rm(path, { force: true }).catch(() => undefined);
    },
  };
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.byteLength; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.byteLength - at);
    at += bytesWritten;
  }
}

function endsEarly(): StorageError {
  return new StorageError("a part of an upload ends early");
}

/** Returns fewer bytes where the file ends within them. */
async function readUpTo(file: FileHandle, count: number): Promise<Buffer<ArrayBuffer>> {
  const bytes = Buffer.alloc(count);
  for (let at = 0; at < count; ) {
    const { bytesRead } = await storing(() => file.read(bytes, at, count - at));
    if (bytesRead === 0) return bytes.subarray(0, at);
    at += bytesRead;
  }
  return bytes;
}

/** A file that was just named is on the disk only with the folder that names it. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Throws a StorageError where the disk is what fails. */
async function storing<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    throw new StorageError(`a part of an upload: ${error.message}`, { cause: error });
  }
}
