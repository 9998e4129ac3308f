import type { Answer } from "../platform/answer.ts";
import type { KeyPort } from "../store/account-port.ts";
import type { Upkeep } from "../store/port.ts";
import { StorageError, UnsettledError } from "../store/storage-error.ts";

/** Records in which hours keys were used, in batches. */
export type KeyUses = {
  /** Notes that the key of a hash was used in an hour; it is written within a second. */
  readonly note: (keyHash: string, hour: number) => void;
  /** Writes what was noted since the last time. */
  readonly flush: () => Answer<void>;
};

const WAIT_MS = 1_000;

export function createKeyUses(store: Pick<KeyPort & Upkeep, "markKeysUsed" | "isOpen">): KeyUses {
  /** Hash of a key → the hour in which it was used. */
  const uses = new Map<string, number>();
  let timer: Timer | undefined;

  function flush(): Answer<void> {
    clearTimeout(timer);
    timer = undefined;
    if (uses.size === 0 || !store.isOpen()) return;
    const written = Array.from(uses, ([keyHash, lastUsedAt]) => ({ keyHash, lastUsedAt }));
    uses.clear();
    try {
      const marked = store.markKeysUsed(written);
      return marked instanceof Promise ? marked.catch(pass) : marked;
    } catch (error) {
      pass(error);
    }
  }

  return {
    note(keyHash, hour) {
      uses.set(keyHash, hour);
      timer ??= setTimeout(() => void flush(), WAIT_MS).unref();
    },
    flush,
  };
}

/** Ignores a failing disk, which charged calls report. */
function pass(error: unknown): void {
  if (!(error instanceof StorageError) && !(error instanceof UnsettledError)) throw error;
}
