import { secondOf } from "../billing/period.ts";
import { type Answer, type AtOnce, after } from "../platform/answer.ts";
import type { Clock } from "../platform/clock.ts";
import type { KeyPort } from "../store/account-port.ts";
import type { KeyRecord } from "../store/account-records.ts";
import type { EmbeddedStore } from "../store/port.ts";
import type { NewEvent } from "../store/webhook-port.ts";

export type KeyExpiry = {
  /** Emits one event for each key that expires in the next seven days. */
  readonly emitDue: () => Answer<void>;
  /** Runs `emitDue` every few seconds, until the returned function is called. */
  readonly start: (onProblem: (error: unknown) => void) => () => void;
};

const AHEAD_MS = 7 * 86_400_000;
const LOOK_EVERY_MS = 2_000;
/** Keys of one transaction: a few milliseconds. The next run emits the rest. */
const KEYS_AT_ONCE_MAX = 100;

type KeyExpiryDependencies<KeyStore> = { readonly store: KeyStore; readonly clock: Clock };

/** Creates the notifications of keys that are about to expire. */
export function createKeyExpiry(
  dependencies: KeyExpiryDependencies<Pick<EmbeddedStore, "emitExpiringKeys">>,
): AtOnce<KeyExpiry>;
export function createKeyExpiry(
  dependencies: KeyExpiryDependencies<Pick<KeyPort, "emitExpiringKeys">>,
): KeyExpiry;
export function createKeyExpiry(
  dependencies: KeyExpiryDependencies<Pick<KeyPort, "emitExpiringKeys">>,
): KeyExpiry {
  const { store, clock } = dependencies;

  function emitDue(): Answer<void> {
    const now = Math.floor(clock.now());
    const ending = { after: now, until: now + AHEAD_MS, limit: KEYS_AT_ONCE_MAX };
    return after(
      store.emitExpiringKeys(ending, (key) => expiringEvent(key, now)),
      () => undefined,
    );
  }

  return {
    emitDue,
    start: (onProblem) => {
      const run = async (): Promise<void> => {
        try {
          await emitDue();
        } catch (error) {
          onProblem(error);
        }
      };
      void run();
      const timer = setInterval(() => void run(), LOOK_EVERY_MS);
      timer.unref();
      return () => clearInterval(timer);
    },
  };
}

function expiringEvent({ keyId, name, hint, expiresAt }: KeyRecord, at: number): NewEvent {
  const data = { key_id: keyId, name, hint, expires_at: expiresAt === null ? null : secondOf(expiresAt) };
  return { type: "key.expiring", at, data };
}
