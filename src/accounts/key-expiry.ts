import { secondOf } from "../billing/period.ts";
import type { Clock } from "../platform/clock.ts";
import type { EmbeddedStore, KeyRecord } from "../store/port.ts";
import type { NewEvent } from "../store/webhook-port.ts";

export type KeyExpiry = {
  /** Emits an event for each key that ends in the next seven days, once. */
  readonly emitDue: () => void;
  /** Does so every few seconds, until the function it returns is called. */
  readonly start: (onProblem: (error: unknown) => void) => () => void;
};

const AHEAD_MS = 7 * 86_400_000;
const LOOK_EVERY_MS = 2_000;
/** One transaction's: a few milliseconds. What is left over comes with the next look. */
const KEYS_AT_ONCE_MAX = 100;

/** Returns what notifies accounts of keys that end soon by themselves. */
export function createKeyExpiry(dependencies: {
  store: Pick<EmbeddedStore, "emitExpiringKeys">;
  clock: Clock;
}): KeyExpiry {
  const { store, clock } = dependencies;

  function emitDue(): void {
    const after = Math.floor(clock.now());
    const ending = { after, until: after + AHEAD_MS, limit: KEYS_AT_ONCE_MAX };
    store.emitExpiringKeys(ending, (key) => expiringEvent(key, after));
  }

  return {
    emitDue,
    start: (onProblem) => {
      const run = (): void => {
        try {
          emitDue();
        } catch (error) {
          onProblem(error);
        }
      };
      run();
      const timer = setInterval(run, LOOK_EVERY_MS);
      timer.unref();
      return () => clearInterval(timer);
    },
  };
}

function expiringEvent({ keyId, name, hint, expiresAt }: KeyRecord, at: number): NewEvent {
  const data = { key_id: keyId, name, hint, expires_at: expiresAt === null ? null : secondOf(expiresAt) };
  return { type: "key.expiring", at, data };
}
