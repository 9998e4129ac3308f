import type { Answer } from "./answer.ts";

/** A value that is loaded with the first use, so that the start does not wait for it. */
export type LoadedOnce<Value> = {
  /** Returns the value. Rejects where loading fails; the next call then loads again. */
  readonly get: () => Answer<Value>;
  /** Returns the value, or undefined before it is loaded. */
  readonly known: () => Value | undefined;
};

/** Calls `load` with the first `get`; concurrent calls share its outcome. */
export function loadedOnce<Value>(load: () => Promise<Value>): LoadedOnce<Value> {
  let loaded: { readonly value: Value } | undefined;
  let loading: Promise<Value> | undefined;
  return {
    get() {
      if (loaded !== undefined) return loaded.value;
      loading ??= load().then(
        (value) => {
          loaded = { value };
          return value;
        },
        (error: unknown) => {
          // The failure may be temporary, as of files.
          loading = undefined;
          throw error;
        },
      );
      return loading;
    },
    known: () => loaded?.value,
  };
}
