import { useCallback, useEffect, useState } from "preact/hooks";
import { askAfterBreak } from "../wire/broken-reply.ts";
import { useConsole } from "./console.ts";
import { useReturns } from "./use-returns.ts";

export type Loading<Value> =
  | { readonly status: "loading" }
  | { readonly status: "failed"; readonly error: unknown }
  | { readonly status: "ready"; readonly value: Value };

export type Loaded<Value> = {
  readonly state: Loading<Value>;
  readonly reload: () => void;
  /** Replaces the loaded value. */
  readonly replace: (value: Value) => void;
};

/**
 * Loads a value, and again when one of the inputs changes, `reload` is called or a lost server is back. The old value is
 * shown until the new one has loaded.
 */
export function useLoad<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[] = [],
): Loaded<Value> {
  const { api, connection } = useConsole();
  const returns = useReturns();
  const [state, setState] = useState<Loading<Value>>({ status: "loading" });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    load(stop.signal).then(
      (value) => {
        if (!stop.signal.aborted) setState({ status: "ready", value });
      },
      (error: unknown) => {
        if (stop.signal.aborted) return;
        askAfterBreak(error, { api, connection });
        setState({ status: "failed", error });
      },
    );
    return () => stop.abort();
  }, [turn, returns, ...inputs]);
  const reload = useCallback(() => setTurn((count) => count + 1), []);
  const replace = useCallback((value: Value) => setState({ status: "ready", value }), []);
  return { state, reload, replace };
}
