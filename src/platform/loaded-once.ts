import type { Answer } from "./answer.ts";

/** What is loaded with the first call that needs it, as the start need not wait for what may never be asked for. */
export type LoadedOnce<Value> = {
  /** Returns the value: at once where it is loaded. Rejects where loading fails; the next call then loads again. */
  readonly get: () => Answer<Value>;
  /** Returns the value, or undefined before it is loaded. */
  readonly known: () => Value | undefined;
};

/** Returns what calls `load` with the first `get`. Calls that come meanwhile share its outcome. */
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
          // Files may be out of reach for a moment.
          loading = undefined;
          throw error;
        },
      );
      return loading;
    },
    known: () => loaded?.value,
  };
}
