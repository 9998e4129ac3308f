import { findKnownNetwork, findToken } from "../../payments/tokens.ts";
import type { JsonObject } from "../../platform/json-value.ts";
import { amountOf, challengePerResource } from "../challenge.ts";
import { type Check, fail, notApplicable, pass, warn } from "../check.ts";
import { written } from "../evidence.ts";

/** An amount on a chain has at most 256 bits. */
const WHOLE = /^\d{1,78}$/;
const USDC_DECIMALS = 6;
const HIGH_USD = 10;
const DECOY_USD = 1000;
/** A larger difference than this part of the listed price is a finding. */
const DRIFT = 0.01;

export const payPrice: Check = {
  id: "pay.price",
  title: "The price is plausible and as listed",
  weight: 6,
  expected: "a whole number of atomic units, more than 0 and at most 10 USD, as listed",
  fix: 'Write atomic units: "10000" is 0.01 USD. List the same price everywhere.',
  find(evidence) {
    const challenges = challengePerResource(evidence);
    const [first] = challenges;
    if (first === undefined || first.accepts.length === 0) return notApplicable("no price was seen");
    let doubt: string | null = null;
    for (const { exchange, accepts, version } of challenges) {
      const listed = evidence.resources.find(({ url }) => url === exchange.url)?.listedMicroUsd ?? null;
      for (const entry of accepts) {
        const text = written(amountOf(entry, version));
        if (!WHOLE.test(text))
          return fail(exchange, `${text.slice(0, 40)} is no whole number of atomic units`);
        if (/^0+$/.test(text)) return fail(exchange, "the price is 0");
        const { usd, isKnown } = worthOf(entry, text);
        if (usd > DECOY_USD && isKnown) return fail(exchange, `${usd} USD`);
        if (usd > HIGH_USD)
          doubt ??= isKnown ? `${usd} USD` : `${text} of a token whose worth is not known here`;
        else if (listed !== null && Math.abs(usd - listed / 1e6) > (listed / 1e6) * DRIFT)
          doubt ??= `${usd} USD, listed at ${listed / 1e6}`;
      }
    }
    const [entry = {}] = first.accepts;
    const observed = `${worthOf(entry, written(amountOf(entry, first.version))).usd} USD`;
    return doubt === null ? pass(first.exchange, observed) : warn(first.exchange, doubt);
  },
};

/** Assumes the decimals of USDC for an unknown token, as most have them. */
function worthOf(entry: JsonObject, amount: string): { readonly usd: number; readonly isKnown: boolean } {
  const network = findKnownNetwork(written(entry.network));
  const token = network === null ? null : findToken(network, written(entry.asset));
  const decimals = token?.decimals ?? USDC_DECIMALS;
  return { usd: Number(amount) / 10 ** decimals, isKnown: token !== null };
}
