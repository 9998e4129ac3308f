import type { Clock } from "../platform/clock.ts";
import type { AdmitPort } from "../store/admit-port.ts";

/** Another process's change is seen after this time. */
const LOOK_EVERY_MS = 250;
/** How long a change is read again: it may be committed a while after its time was taken. */
const WITHIN_MS = 5_000;
/** After this time without an answer nothing that is cached is believed. */
const LOST_AFTER_MS = 700;

/**
 * Watches which accounts other processes change: by what they announce, and by looking, as announcements may be missed.
 * `changed` is called for each within a second; where the store does not answer, `lost` is called instead, again and again, so that no key that was revoked works for longer. Returns what
 * ends it.
 */
export function watchChanges(dependencies: {
  readonly store: Pick<AdmitPort, "changedAccounts" | "listenForChanges">;
  readonly clock: Clock;
  readonly changed: (accountId: string) => void;
  readonly lost: () => void;
}): () => void {
  const { store, clock, changed, lost } = dependencies;
  let answeredMs = clock.monotonic();
  let isLooking = false;

  async function look(): Promise<void> {
    isLooking = true;
    const askedMs = clock.monotonic();
    try {
      for (const accountId of await store.changedAccounts(WITHIN_MS)) changed(accountId);
      answeredMs = askedMs;
    } catch {
      // The calls that need the store say what is wrong with it.
    } finally {
      isLooking = false;
    }
  }

  const timer = setInterval(() => {
    if (clock.monotonic() - answeredMs > LOST_AFTER_MS) lost();
    if (!isLooking) void look();
  }, LOOK_EVERY_MS);
  const stopListening = store.listenForChanges({
    onChange: changed,
    resumed: () => {
      if (!isLooking) void look();
    },
  });
  return () => {
    stopListening();
    clearInterval(timer);
  };
}
