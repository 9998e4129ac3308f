import type { ListingBody } from "../contract/directory-schemas.ts";

/** A paid service and its measures, in the spelling and the field order of the wire. */
export type Listing = Omit<ListingBody, "evidence"> & { readonly evidence: Evidence };

/** A measure is null without data: never probed, never paid, no single price. */
export type Evidence = Omit<ListingBody["evidence"], "pay_to_changed_at"> & {
  /** Undefined where the record does not have it: then the directory tracks the payee by itself. */
  readonly pay_to_changed_at: string | null | undefined;
};

export type Resource = ListingBody["resources"][number];

/** The tolerance for clock skew: a time further in the future is not believed. */
export const FUTURE_TOLERANCE_MS = 5 * 60_000;

/** Returns the listing as JSON text, in a canonical form, so that equal bytes mean an unchanged listing. */
export function listingText(listing: Listing, payToChangedAt: string | null): string {
  return JSON.stringify({
    ...listing,
    evidence: { ...listing.evidence, pay_to_changed_at: payToChangedAt },
  });
}

/** Returns a price of six decimals as integer micro-USD, NaN for null; at most 999,999,999.999999. */
export function priceMicroUsd(price: string | null): number {
  return price === null ? Number.NaN : Number(price.replace(".", ""));
}

/** Returns whether the text is a lower-case DNS name of two labels or more that is no IPv4 address. */
export function isHost(text: string): boolean {
  if (text.length > 253) return false;
  const labels = text.split(".");
  if (labels.length < 2 || /^\d+$/.test(labels.at(-1) ?? "")) return false;
  return labels.every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label));
}
