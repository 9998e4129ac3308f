import { amountOf, challengePerResource } from "../challenge.ts";
import { type Check, fail, notApplicable, pass, warn } from "../check.ts";
import { written } from "../evidence.ts";

const WHOLE = /^\d{1,15}$/;
const HIGH_MICRO_USD = 10_000_000;
const DECOY_MICRO_USD = 1_000_000_000;
/** More than a hundredth of what is listed. */
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
    for (const { exchange, accepts } of challenges) {
      const listed = evidence.resources.find(({ url }) => url === exchange.url)?.listedMicroUsd ?? null;
      for (const entry of accepts) {
        const text = written(amountOf(entry));
        if (!WHOLE.test(text))
          return fail(exchange, `${text.slice(0, 40)} is no whole number of atomic units`);
        const amount = Number(text);
        if (amount === 0) return fail(exchange, "the price is 0");
        if (amount > DECOY_MICRO_USD) return fail(exchange, `${amount / 1e6} USD`);
        if (amount > HIGH_MICRO_USD) doubt ??= `${amount / 1e6} USD`;
        if (listed !== null && Math.abs(amount - listed) > listed * DRIFT) {
          doubt ??= `${amount / 1e6} USD, listed at ${listed / 1e6}`;
        }
      }
    }
    const observed = `${Number(written(amountOf(first.accepts[0] ?? {}))) / 1e6} USD`;
    return doubt === null ? pass(first.exchange, observed) : warn(first.exchange, doubt);
  },
};
