import { createStore, type Store } from "./store.ts";

/** Shared with the documentation of the same server. */
const KEY_NAME = "assay-key";

/** The visitor's key: kept in this tab, gone with it. */
export type Session = {
  readonly key: Store<string | null>;
  /** Whether the visitor is out because the server no longer takes his key. */
  readonly isRefused: Store<boolean>;
  readonly enter: (key: string) => void;
  /** Forgets the key and all else that the tab keeps. */
  readonly leave: () => void;
  /** Leaves with a key that the server no longer takes. */
  readonly leaveRefused: () => void;
};

export function createSession(storage: Storage): Session {
  const key = createStore<string | null>(storage.getItem(KEY_NAME));
  const isRefused = createStore(false);
  const leave = (refused: boolean) => {
    isRefused.set(refused);
    storage.clear();
    key.set(null);
  };
  return {
    key,
    isRefused,
    enter(held) {
      storage.setItem(KEY_NAME, held);
      key.set(held);
    },
    leave: () => leave(false),
    leaveRefused: () => leave(true),
  };
}
