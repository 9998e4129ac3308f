import { useConsole } from "../state/console.ts";
import { useStore } from "../state/use-store.ts";

/** Announces to screen readers what has changed. */
export function Announcer() {
  const { announcement } = useConsole();
  const text = useStore(announcement);
  return (
    <div class="unseen" aria-live="polite">
      {text}
    </div>
  );
}
