import { createStore, type Store } from "./store.ts";

/** Shared with the documentation of the same server. */
const KEY_NAME = "assay-key";

/** The visitor's key: kept in this tab, gone with it. */
export type Session = {
  readonly key: Store<string | null>;
  readonly enter: (key: string) => void;
  /** Forgets the key and all else that the tab keeps. */
  readonly leave: () => void;
};

export function createSession(storage: Storage): Session {
  const key = createStore<string | null>(storage.getItem(KEY_NAME));
  return {
    key,
    enter(held) {
      storage.setItem(KEY_NAME, held);
      key.set(held);
    },
    leave() {
      storage.clear();
      key.set(null);
    },
  };
}
