import { StorageError } from "../store/storage-error.ts";

export type SliceSize = {
  /**
   * Runs work with how much of it goes into one transaction, and returns what it returns. Null after a StorageError where
   * half of that is to be tried instead: not where it was one already, nor where `isWanted` is over.
   */
  readonly attempt: <T>(work: (sizeMax: number) => Promise<T>, isWanted: () => boolean) => Promise<T | null>;
};

/**
 * Finds how much fits into a transaction of a store that is slow: a slice that always fails would hold up all behind it.
 * The size grows by an eighth with each success, up to `largest`.
 */
export function createSliceSize(largest: number): SliceSize {
  let size = largest;
  return {
    async attempt(work, isWanted) {
      try {
        const result = await work(size);
        size = Math.min(largest, size + Math.ceil(size / 8));
        return result;
      } catch (error) {
        if (!(error instanceof StorageError) || size === 1 || !isWanted()) throw error;
        size = Math.floor(size / 2);
        return null;
      }
    },
  };
}
