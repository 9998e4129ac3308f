import { setImmediate as nextTurn } from "node:timers/promises";
import { type Answer, finallyDo } from "../platform/answer.ts";
import type { KeyPort } from "../store/account-port.ts";
import type { KeyUse } from "../store/account-records.ts";
import type { Upkeep } from "../store/port.ts";
import { StorageError, UnsettledError } from "../store/storage-error.ts";

/** Records in which hours keys were used, in batches. */
export type KeyUses = {
  /** Notes that the key of a hash was used in an hour; it begins to be written within a second. */
  readonly note: (keyHash: string, hour: number) => void;
  /** Returns the hour of a use that is not written yet. */
  readonly noted: (keyHash: string) => number | undefined;
  /** Writes what was noted since the last time, at once. */
  readonly flush: () => Answer<void>;
};

const WAIT_MS = 1_000;
/** Uses written in one transaction, and one turn of the event loop: all keys in use are noted as an hour begins. */
const SLICE_USES_MAX = 100;

export function createKeyUses(store: Pick<KeyPort & Upkeep, "markKeysUsed" | "isOpen">): KeyUses {
  /** Hash of a key → the hour in which it was used. */
  const uses = new Map<string, number>();
  let timer: Timer | undefined;

  /** Writes up to `usesMax` of the uses, oldest first. */
  function write(usesMax: number): Answer<void> {
    if (!store.isOpen()) uses.clear();
    if (uses.size === 0) return;
    const some = uses.entries().take(usesMax);
    const written = Array.from(some, ([keyHash, lastUsedAt]): KeyUse => ({ keyHash, lastUsedAt }));
    const remove = (): void => {
      for (const { keyHash, lastUsedAt } of written) {
        if (uses.get(keyHash) === lastUsedAt) uses.delete(keyHash);
      }
    };
    try {
      const marked = finallyDo(() => store.markKeysUsed(written), remove);
      return marked instanceof Promise ? marked.catch(pass) : marked;
    } catch (error) {
      pass(error);
    }
  }

  async function writeInSlices(): Promise<void> {
    try {
      while (uses.size > 0) {
        await write(SLICE_USES_MAX);
        await nextTurn();
      }
    } finally {
      timer = undefined;
    }
  }

  return {
    note(keyHash, hour) {
      uses.set(keyHash, hour);
      timer ??= setTimeout(() => void writeInSlices(), WAIT_MS).unref();
    },
    noted: (keyHash) => uses.get(keyHash),
    flush() {
      clearTimeout(timer);
      timer = undefined;
      return write(uses.size);
    },
  };
}

/** Ignores a failing disk, which charged calls report. */
function pass(error: unknown): void {
  if (!(error instanceof StorageError) && !(error instanceof UnsettledError)) throw error;
}
