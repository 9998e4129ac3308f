import { createStore, type Store } from "./store.ts";

/** Shared with the documentation of the same server. */
const KEY_NAME = "assay-key";

/** The visitor's key, kept in this tab only. */
export type Session = {
  readonly key: Store<string | null>;
  /** Whether the visitor was signed out because the server no longer accepts the key. */
  readonly isRefused: Store<boolean>;
  readonly enter: (key: string) => void;
  /** Enters a key in the place of another, unless that one is no longer held: a late reply brings nobody in. */
  readonly exchange: (from: string | null, key: string) => void;
  /** Whether the tab still keeps the key that is held. In a page that the browser shows again it may not. */
  readonly isKept: () => boolean;
  /** Signs out: forgets the key and everything else that the tab keeps. */
  readonly leave: () => void;
  /** Signs out because the server no longer accepts the key. */
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
  const enter = (held: string) => {
    storage.setItem(KEY_NAME, held);
    key.set(held);
  };
  return {
    key,
    isRefused,
    enter,
    exchange(from, held) {
      if (key.get() === from) enter(held);
    },
    isKept: () => storage.getItem(KEY_NAME) === key.get(),
    leave: () => leave(false),
    leaveRefused: () => leave(true),
  };
}
