import { type SUMMARY_WORDS, UNCHECKED_WORDS } from "../contract/words.ts";

/** The units of one identity document. */
export const IDENTITY_UNITS = 1;

/** The units of one phone number. */
export const PHONE_UNITS = 1;

/** Returns the units of one email address: the SPF and DMARC look-ups of a deep check double them. */
export function emailUnits(deep: boolean): 1 | 2 {
  return deep ? 2 : 1;
}

/** Returns the units of one item of a batch. `deep` matters for addresses alone. */
export function itemUnits(kind: keyof typeof SUMMARY_WORDS, deep: boolean): number {
  switch (kind) {
    case "email":
      return emailUnits(deep);
    case "identity":
      return IDENTITY_UNITS;
    case "phone":
      return PHONE_UNITS;
  }
}

const UNCHARGED_SUB_STATUSES: ReadonlySet<string> = new Set(UNCHECKED_WORDS);

/** Whether an email result is charged: not where our own look-up or worker failed. */
export function isEmailCharged(subStatus: string): boolean {
  return !UNCHARGED_SUB_STATUSES.has(subStatus);
}

/** Whether an identity or phone result with this reason is charged: not where our own check failed. */
export function isOutcomeCharged(reason: string | null): boolean {
  return reason !== "check_failed";
}
