import { createShares } from "../../batch/shares.ts";
import { PART_BYTES_MAX } from "../../contract/words.ts";
import type { PartCommit, PartPort } from "../../store/part-port.ts";
import { createFrameWriter, frameBytes } from "./part-frames.ts";
import {
  ARRIVING,
  GUARANTEED,
  noRoom,
  partTooLarge,
  startedAlready,
  tooLarge,
  tooManyArriving,
} from "./part-rules.ts";
import type { NewPart, PartCheck, Parts } from "./parts.ts";

export type SharedPartsOptions = {
  readonly store: PartPort;
  /** For the uploads of all accounts; passed by what arrives on all nodes at the same moment. */
  readonly bytesMax: number;
  /** Returns a new name at each call. */
  readonly newPartId: () => string;
};

/** Keeps the parts of uploads in a store that processes share: any of them receives a part, and any reads them. */
export function createSharedParts({ store, bytesMax, newPartId }: SharedPartsOptions): Parts {
  const arriving = createShares(ARRIVING);

  /** Throws where the part has no room with the bytes that it has by now. */
  async function createRoom({ accountId, jobId, n, jobBytesMax }: NewPart) {
    const [kept, parts] = await Promise.all([store.partBytes(accountId), store.partsOf(jobId)]);
    const former = parts.find((part) => part.n === n)?.bytes ?? 0;
    const ofJob = parts.reduce((sum, { bytes }) => sum + bytes, 0) - former;
    return (bytes: number): void => {
      if (ofJob + bytes > jobBytesMax) throw tooLarge(jobBytesMax);
      const isFull = kept.all - former + bytes > bytesMax;
      if (isFull && kept.account - former + bytes > bytesMax * GUARANTEED) throw noRoom();
    };
  }

  async function receive(
    part: NewPart,
    pieces: AsyncIterable<Uint8Array>,
    check: PartCheck,
    partId: string,
  ): Promise<void> {
    const { accountId, jobId, n } = part;
    const requireRoom = await createRoom(part);
    let stored = 0;
    let frames = 0;
    const writer = createFrameWriter(async (frame) => {
      stored += frame.byteLength;
      requireRoom(stored);
      await store.addPartFrame({ jobId, partId }, frames, frame);
      frames += 1;
    });
    let bytes = 0;
    for await (const piece of pieces) {
      bytes += piece.byteLength;
      if (bytes > PART_BYTES_MAX) throw partTooLarge();
      await writer.write(piece);
    }
    await writer.flush();
    // Another part, or another sending of this one, may change the options meanwhile.
    for (let committed: PartCommit = "changed"; committed === "changed"; ) {
      const options = await check();
      committed = await store.commitPart({ accountId, jobId, n, partId, bytes: stored }, options);
      if (committed === "started") throw startedAlready();
    }
  }

  return {
    async write(part, pieces, check) {
      if (!arriving.acquire(part.accountId, 1)) throw tooManyArriving();
      const partId = newPartId();
      try {
        await receive(part, pieces, check, partId);
      } catch (error) {
        // What cannot be removed now is removed once it is old.
        await Promise.resolve(store.dropPart(partId)).catch(() => undefined);
        throw error;
      } finally {
        arriving.release(part.accountId, 1);
      }
    },

    settled: () => Promise.resolve(),
    numbers: async (jobId) => (await store.partsOf(jobId)).map(({ n }) => n),

    async *read(jobId, numbers) {
      for (const n of numbers) {
        for (let frame = 0; ; frame += 1) {
          const body = await store.partFrame(jobId, n, frame);
          if (body === null) break;
          yield await frameBytes(body);
        }
      }
    },

    async remove(jobId) {
      await store.removeParts(jobId);
    },

    takeOver: () => Promise.resolve(),
  };
}
