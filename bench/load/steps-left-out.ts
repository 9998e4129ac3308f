import type { Components } from "../../src/app/components.ts";
import type { Platform } from "../../src/app/platform.ts";
import type { Reservation } from "../../src/billing/reservation.ts";

/** What a server is made of, some of it in the place of the real thing. */
export type Substitutes = { readonly components: Components; readonly platform: Platform };

export type Step = keyof typeof STEPS;

export function isStep(name: string): name is Step {
  return Object.hasOwn(STEPS, name);
}

/** The steps of a single check, each with a server that leaves it out. */
export const STEPS = {
  "nothing left out": (whole: Substitutes): Substitutes => whole,
  "the request id": ({ components, platform }: Substitutes): Substitutes => ({
    components,
    platform: { ...platform, newRequestId: () => "req_0000000000000000" },
  }),
  "the key's look-up": (whole: Substitutes): Substitutes => {
    const { keyRing } = whole.components;
    const find = once(keyRing.find);
    return withComponents(whole, { keyRing: { ...keyRing, find } });
  },
  "the rate limit": (whole: Substitutes): Substitutes => {
    const decision = { allowed: true, limit: 1, remaining: 1, resetSeconds: 1, retryAfterSeconds: 0 };
    const { accountLimiter } = whole.components;
    return withComponents(whole, { accountLimiter: { ...accountLimiter, take: () => decision } });
  },
  "the check": (whole: Substitutes): Substitutes =>
    withComponents(whole, { writeEmail: once(whole.components.writeEmail) }),
  "the headers of the month": (whole: Substitutes): Substitutes => {
    const { meter } = whole.components;
    return withComponents(whole, { meter: { ...meter, month: once(meter.month) } });
  },
  "the charge": (whole: Substitutes): Substitutes => {
    const { meter } = whole.components;
    const reserved: Reservation = {
      accountId: "",
      units: 1,
      record: () => Promise.resolve(),
      release: () => {},
      chargedUnits: () => 1,
    };
    return withComponents(whole, { meter: { ...meter, reserve: () => reserved } });
  },
} satisfies { readonly [step: string]: (whole: Substitutes) => Substitutes };

function withComponents({ components, platform }: Substitutes, others: Partial<Components>): Substitutes {
  return { platform, components: { ...components, ...others } };
}

/** Returns a function that does the work until something comes of it at once, and returns that ever after. */
function once<Values extends readonly unknown[], Result>(
  work: (...values: Values) => Result,
): (...values: Values) => Result {
  let first: Result | undefined;
  return (...values) => {
    if (first !== undefined) return first;
    const result = work(...values);
    if (result !== null && !(result instanceof Promise)) first = result;
    return result;
  };
}
