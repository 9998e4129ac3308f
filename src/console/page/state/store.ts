/** An observable value. */
export type Store<Value> = {
  readonly get: () => Value;
  readonly set: (value: Value) => void;
  /** Calls the listener after each change; returns a function that unsubscribes it. */
  readonly subscribe: (listener: () => void) => () => void;
};

export function createStore<Value>(first: Value): Store<Value> {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
