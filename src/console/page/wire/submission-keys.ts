const KEPT_MAX = 20;
const KEY_BYTES = 16;

/** The Idempotency-Keys of submissions whose reply has not come; 20 at most, of more the oldest goes. */
export type SubmissionKeys = {
  /** Returns the key of a submission: the same one until it is settled. */
  readonly keyOf: (submission: string) => string;
  /** Notes that the reply has come: the same content sent once more is another submission. */
  readonly settle: (submission: string) => void;
  /** Forgets submissions that are not to be done any more: one of them would bring a reply of before. */
  readonly forget: (isMeant: (submission: string) => boolean) => void;
  readonly has: (isMeant: (submission: string) => boolean) => boolean;
  readonly clear: () => void;
};

export function createSubmissionKeys(): SubmissionKeys {
  const keys = new Map<string, string>();
  return {
    keyOf(submission) {
      const key = keys.get(submission) ?? newKey();
      keys.set(submission, key);
      const [oldest] = keys.keys();
      if (keys.size > KEPT_MAX && oldest !== undefined) keys.delete(oldest);
      return key;
    },
    settle: (submission) => void keys.delete(submission),
    forget(isMeant) {
      for (const submission of [...keys.keys()]) if (isMeant(submission)) keys.delete(submission);
    },
    has: (isMeant) => [...keys.keys()].some(isMeant),
    clear: () => keys.clear(),
  };
}

/** A page that is not a secure context has no randomUUID. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
