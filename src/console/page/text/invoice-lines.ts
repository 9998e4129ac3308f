import type { Invoice } from "../wire/bodies.ts";

const OF_UNITS = /: (?:included units|credited units|units beyond the included)$/;

/** Returns what an invoice asks for the plans alone, without units, in USD. */
export function planPriceIn({ lines }: Invoice): number {
  return lines
    .filter(({ description }) => !OF_UNITS.test(description))
    .reduce((sum, { amount_usd }) => sum + Number(amount_usd), 0);
}
