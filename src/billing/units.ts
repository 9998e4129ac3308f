import { type SUMMARY_WORDS, UNCHECKED_WORDS } from "../contract/words.ts";

/** What one identity document costs. */
export const IDENTITY_UNITS = 1;

/** What one phone number costs. */
export const PHONE_UNITS = 1;

/** What one email address costs: the SPF and DMARC look-ups of a deep check double it. */
export function emailUnits(deep: boolean): 1 | 2 {
  return deep ? 2 : 1;
}

/** What one item of a batch costs; only for addresses it matters whether the check is deep. */
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

/** Whether an email result is paid for: not where our own look-up or worker failed. */
export function isEmailCharged(subStatus: string): boolean {
  return !UNCHARGED_SUB_STATUSES.has(subStatus);
}

/** Whether an identity or phone result with this reason is paid for: not where our own check broke. */
export function isOutcomeCharged(reason: string | null): boolean {
  return reason !== "check_failed";
}
