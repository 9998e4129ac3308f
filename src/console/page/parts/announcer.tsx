import { useConsole } from "../state/console.ts";
import { useStore } from "../state/use-store.ts";

/** Tells a screen reader what has changed. */
export function Announcer() {
  const { announcement } = useConsole();
  const text = useStore(announcement);
  return (
    <div class="unseen" aria-live="polite">
      {text}
    </div>
  );
}
