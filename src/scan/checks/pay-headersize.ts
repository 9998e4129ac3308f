import { challengePerResource } from "../challenge.ts";
import { type Check, fail, notApplicable, pass, warn } from "../check.ts";

export const payHeadersize: Check = {
  id: "pay.headersize",
  title: "The challenge is small and not cached",
  weight: 2,
  expected: "PAYMENT-REQUIRED of at most 8 KB and Cache-Control: no-store or private",
  fix: "Trim the schemas in the challenge and send Cache-Control: no-store.",
  find(evidence) {
    const challenges = challengePerResource(evidence).filter(({ header }) => header !== null);
    const [first] = challenges;
    if (first === undefined) return notApplicable("no PAYMENT-REQUIRED was seen");
    const bytes = Math.max(
      ...challenges.map(({ exchange }) => exchange.headers["payment-required"]?.length ?? 0),
    );
    const isPrivate = challenges.every(({ exchange }) =>
      /\b(no-store|private)\b/i.test(exchange.headers["cache-control"] ?? ""),
    );
    const observed = `${bytes} bytes, Cache-Control ${first.exchange.headers["cache-control"] ?? "missing"}`;
    if (bytes > 16_384) return fail(first.exchange, observed);
    return bytes <= 8192 && isPrivate ? pass(first.exchange, observed) : warn(first.exchange, observed);
  },
};
