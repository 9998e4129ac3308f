import { useEffect, useState } from "preact/hooks";
import type { Store } from "./store.ts";

/** Returns the value of a store, and renders again when it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  const [value, setValue] = useState(() => store.get());
  useEffect(() => {
    const follow = () => setValue(() => store.get());
    follow();
    return store.subscribe(follow);
  }, [store]);
  return value;
}
