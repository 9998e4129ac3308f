import { StorageError, UnsettledError } from "../../src/store/storage-error.ts";

const AGAIN_MS = 20;

/** Does some work on a store, again and again while its server is away or takes no writes, as those who charge do. */
export async function untilAnswered<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StorageError) && !(error instanceof UnsettledError)) throw error;
      await Bun.sleep(AGAIN_MS);
    }
  }
}
