import { useCallback, useEffect, useState } from "preact/hooks";
import { useConsole } from "./console.ts";

export type Loading<Value> =
  | { readonly status: "loading" }
  | { readonly status: "failed"; readonly error: unknown }
  | { readonly status: "ready"; readonly value: Value };

export type Loaded<Value> = {
  readonly state: Loading<Value>;
  readonly reload: () => void;
  /** Puts a value in the place of what was loaded. */
  readonly replace: (value: Value) => void;
};

/**
 * Loads a value, anew when one of the inputs changes, `reload` is called or a lost server is back. What was loaded is
 * shown until the new value is there.
 */
export function useLoad<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[] = [],
): Loaded<Value> {
  const { connection } = useConsole();
  const [state, setState] = useState<Loading<Value>>({ status: "loading" });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    load(stop.signal).then(
      (value) => {
        if (!stop.signal.aborted) setState({ status: "ready", value });
      },
      (error: unknown) => {
        if (!stop.signal.aborted) setState({ status: "failed", error });
      },
    );
    return () => stop.abort();
  }, [turn, ...inputs]);
  useEffect(
    () =>
      connection.subscribe(() => {
        if (connection.get() === "up") setTurn((count) => count + 1);
      }),
    [connection],
  );
  const reload = useCallback(() => setTurn((count) => count + 1), []);
  const replace = useCallback((value: Value) => setState({ status: "ready", value }), []);
  return { state, reload, replace };
}
