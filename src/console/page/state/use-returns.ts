import { useEffect, useState } from "preact/hooks";
import { useConsole } from "./console.ts";

/** Returns how often a lost server has come back, and renders again when it does. */
export function useReturns(): number {
  const { connection } = useConsole();
  const [returns, setReturns] = useState(0);
  useEffect(
    () =>
      connection.subscribe(() => {
        if (connection.get() === "up") setReturns((count) => count + 1);
      }),
    [connection],
  );
  return returns;
}
