import { secondOf } from "../billing/period.ts";
import type { Clock } from "../platform/clock.ts";
import type { EmbeddedStore, KeyRecord } from "../store/port.ts";
import type { NewEvent } from "../store/webhook-port.ts";

export type KeyExpiry = {
  /** Tells of each key that ends in the next seven days, once. */
  readonly tellDue: () => void;
  /** Does so every few seconds, until the function it returns is called. */
  readonly start: (onProblem: (error: unknown) => void) => () => void;
};

const AHEAD_MS = 7 * 86_400_000;
const LOOK_EVERY_MS = 2_000;
/** One transaction's: a few milliseconds. What is left over comes with the next look. */
const KEYS_AT_ONCE_MAX = 100;

/** Returns what tells accounts of keys that end soon by themselves. */
export function createKeyExpiry(dependencies: {
  store: Pick<EmbeddedStore, "tellOfKeys">;
  clock: Clock;
}): KeyExpiry {
  const { store, clock } = dependencies;

  function tellDue(): void {
    const after = Math.floor(clock.now());
    const ending = { after, until: after + AHEAD_MS, limit: KEYS_AT_ONCE_MAX };
    store.tellOfKeys(ending, (key) => expiringEvent(key, after));
  }

  return {
    tellDue,
    start: (onProblem) => {
      const run = (): void => {
        try {
          tellDue();
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
