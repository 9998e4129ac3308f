import type { Clock } from "../platform/clock.ts";
import type { AdmitPort } from "../store/admit-port.ts";

/** Between two polls for changes of other processes. */
const LOOK_EVERY_MS = 250;
/** How long a change is polled again: it may be committed some time after its timestamp was taken. */
const WITHIN_MS = 5_000;
/** After this time without an answer of the store, caches are dropped. */
const LOST_AFTER_MS = 700;

/**
 * Watches which accounts other processes change, by notifications and by polling, as notifications may be missed.
 * `changed` is called for each within a second. While the store does not answer, `lost` is called repeatedly instead, so
 * that no revoked key works for longer. Returns a function that ends the watch.
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
      // The calls that need the store report its failure.
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
