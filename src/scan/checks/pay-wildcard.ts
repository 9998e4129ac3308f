import { type Check, fail, notApplicable, pass, warn } from "../check.ts";
import { exchangeOf } from "../evidence.ts";

export const payWildcard: Check = {
  id: "pay.wildcard",
  title: "Unknown paths are unknown",
  weight: 4,
  expected: "404 or 410 to a path that does not exist",
  fix: "Mount the paywall on each route, not in front of everything.",
  find(evidence) {
    const unknown = exchangeOf(evidence, "unknown_path");
    const status = unknown?.status ?? null;
    if (unknown === null || status === null) return notApplicable("no reply");
    const observed = `${status}`;
    if (status === 404 || status === 410) return pass(unknown, observed);
    return status === 402 || (status >= 200 && status < 400) || status >= 500
      ? fail(unknown, observed)
      : warn(unknown, observed);
  },
};
