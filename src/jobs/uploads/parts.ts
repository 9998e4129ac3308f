import { createShares } from "../../batch/shares.ts";
import { PART_BYTES_MAX } from "../../contract/words.ts";
import type { Answer } from "../../platform/answer.ts";
import type { PartFiles, PartWriter } from "./part-files.ts";
import {
  ARRIVING,
  GUARANTEED,
  noRoom,
  partTooLarge,
  startedAlready,
  tooLarge,
  tooManyArriving,
} from "./part-rules.ts";
import { createPartTurns } from "./part-turns.ts";

/** The parts of uploads that have not been started, within what each account may keep. */
export type Parts = {
  /**
   * Writes a part in the place of the one that has its number. `check` runs when all of it has arrived, and what it
   * throws leaves the former part. Of two sendings of one part, the last that was checked stays. Throws
   * `payload_too_large` and `overloaded`.
   */
  readonly write: (part: NewPart, pieces: AsyncIterable<Uint8Array>, check: PartCheck) => Promise<void>;
  /** Resolves once the parts that are being brought to the disk are there. */
  readonly settled: (jobId: string) => Promise<void>;
  /** The numbers of a job's parts, ascending. */
  readonly numbers: (jobId: string) => Answer<readonly number[]>;
  /** Yields the bytes of these parts one after the other. */
  readonly read: (jobId: string, numbers: readonly number[]) => AsyncGenerator<Uint8Array, void, undefined>;
  readonly remove: (jobId: string) => Promise<void>;
  /** Takes over what a former process left; parts of jobs that `accountOf` does not know are removed. */
  readonly takeOver: (accountOf: (jobId: string) => Answer<string | null>) => Promise<void>;
};

/** Checks a part; resolves with the options of its job that hold for it. It may run again. */
export type PartCheck = () => Promise<string>;

export type NewPart = {
  readonly accountId: string;
  readonly jobId: string;
  readonly n: number;
  /** Bytes that all parts of the job may have on the disk. */
  readonly jobBytesMax: number;
};

export type PartsOptions = {
  /** For the uploads of all accounts. */
  readonly bytesMax: number;
};

const OVERFLOW = 1.25;

/** The parts of one job. */
type Upload = {
  readonly accountId: string;
  /** Number → bytes on the disk. */
  readonly sizes: Map<number, number>;
  bytes: number;
  readonly committing: Set<Promise<void>>;
};

export function createParts(files: PartFiles, { bytesMax }: PartsOptions): Parts {
  const shares = createShares({ capacity: bytesMax, guaranteed: bytesMax * GUARANTEED, overflow: OVERFLOW });
  const arriving = createShares(ARRIVING);
  const inTurn = createPartTurns();
  const uploads = new Map<string, Upload>();

  function uploadOf({ accountId, jobId }: Pick<NewPart, "accountId" | "jobId">): Upload {
    const known = uploads.get(jobId);
    if (known !== undefined) return known;
    const made: Upload = { accountId, sizes: new Map(), bytes: 0, committing: new Set() };
    uploads.set(jobId, made);
    return made;
  }

  /** Lets the share grow with a file; it is over when the file is discarded or in its place. */
  function createHold({ accountId, jobId, jobBytesMax, n }: NewPart) {
    let held = 0;
    return {
      growTo(bytes: number): void {
        const upload = uploads.get(jobId);
        const others = upload === undefined ? 0 : upload.bytes - (upload.sizes.get(n) ?? 0);
        if (others + bytes > jobBytesMax) throw tooLarge(jobBytesMax);
        if (!shares.acquire(accountId, bytes - held)) throw noRoom();
        held = bytes;
      },
      release: () => shares.release(accountId, held),
    };
  }

  async function receive(
    part: NewPart,
    pieces: AsyncIterable<Uint8Array>,
    writer: PartWriter,
    check: PartCheck,
  ) {
    const hold = createHold(part);
    try {
      let bytes = 0;
      for await (const piece of pieces) {
        bytes += piece.byteLength;
        if (bytes > PART_BYTES_MAX) throw partTooLarge();
        await writer.write(piece);
        hold.growTo(writer.storedBytes());
      }
      await writer.flush();
      hold.growTo(writer.storedBytes());
      await inTurn(part, async () => {
        await check();
        await commit(part, writer);
      });
    } catch (error) {
      hold.release();
      await writer.discard();
      throw error;
    }
  }

  async function commit(part: NewPart, writer: PartWriter): Promise<void> {
    const upload = uploadOf(part);
    const isKept = () => uploads.get(part.jobId) === upload;
    const committed = writer.commit();
    upload.committing.add(committed);
    try {
      await committed;
      // The parts of the job were removed meanwhile, and this one with them or as an orphan.
      if (!isKept()) throw startedAlready();
      shares.release(part.accountId, place(upload, part.n, writer.storedBytes()));
    } finally {
      upload.committing.delete(committed);
      if (isKept() && upload.sizes.size === 0 && upload.committing.size === 0) uploads.delete(part.jobId);
    }
  }

  /** Returns the bytes of the part that was there. */
  function place(upload: Upload, n: number, bytes: number): number {
    const former = upload.sizes.get(n) ?? 0;
    upload.sizes.set(n, bytes);
    upload.bytes += bytes - former;
    return former;
  }

  function forget(jobId: string): void {
    const upload = uploads.get(jobId);
    if (upload === undefined) return;
    uploads.delete(jobId);
    for (const bytes of upload.sizes.values()) shares.release(upload.accountId, bytes);
  }

  return {
    async write(part, pieces, check) {
      if (!arriving.acquire(part.accountId, 1)) throw tooManyArriving();
      try {
        await receive(part, pieces, await files.create(part.jobId, part.n), check);
      } finally {
        arriving.release(part.accountId, 1);
      }
    },

    async settled(jobId) {
      await Promise.allSettled(uploads.get(jobId)?.committing ?? []);
    },

    numbers: (jobId) => [...(uploads.get(jobId)?.sizes.keys() ?? [])].sort((one, other) => one - other),

    async *read(jobId, numbers) {
      for (const n of numbers) yield* files.read(jobId, n);
    },

    async remove(jobId) {
      forget(jobId);
      await files.remove(jobId);
    },

    async takeOver(accountOf) {
      const unknown: string[] = [];
      for (const { jobId, parts } of files.left()) {
        const accountId = await accountOf(jobId);
        if (accountId === null) {
          unknown.push(jobId);
          continue;
        }
        if (parts.size === 0) continue;
        const upload = uploadOf({ accountId, jobId });
        // What is there stays, even where less is allowed by now.
        for (const [n, bytes] of parts) place(upload, n, shares.acquire(accountId, bytes) ? bytes : 0);
      }
      for (const jobId of unknown) await files.remove(jobId);
    },
  };
}
