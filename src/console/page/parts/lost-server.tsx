import { useEffect } from "preact/hooks";
import { useConsole } from "../state/console.ts";
import { useStore } from "../state/use-store.ts";
import { Notice } from "./notice.tsx";

const RETRY_MS = 2_000;

/** Says that the server does not answer, and asks it again until it does. */
export function LostServer() {
  const { api, connection } = useConsole();
  const state = useStore(connection);
  useEffect(() => {
    if (state === "up") return;
    const timer = setInterval(() => {
      api.open("/healthz").catch(() => undefined);
    }, RETRY_MS);
    return () => clearInterval(timer);
  }, [api, state]);
  if (state === "up") return null;
  return (
    <Notice kind="bad">
      The server does not answer. It is asked again every {RETRY_MS / 1000} seconds; nothing on this page is
      lost.
    </Notice>
  );
}
