import { challengePerResource } from "../challenge.ts";
import { type Check, fail, notApplicable, pass, warn } from "../check.ts";

/** The Origin header of every request of a scan. */
export const PROBE_ORIGIN = "https://example.com";

export const httpCors: Check = {
  id: "http.cors",
  title: "Programs in browsers can pay",
  weight: 1,
  expected: "Access-Control-Allow-Origin, and Access-Control-Expose-Headers with the payment headers",
  fix: "Add Access-Control-Allow-Origin: * and Access-Control-Expose-Headers: PAYMENT-REQUIRED, PAYMENT-RESPONSE.",
  find(evidence) {
    const [first] = challengePerResource(evidence);
    if (first === undefined) return notApplicable("no challenge was seen");
    const { headers } = first.exchange;
    const allowed = headers["access-control-allow-origin"]?.trim();
    if (allowed !== "*" && allowed !== PROBE_ORIGIN) {
      return fail(first.exchange, allowed === undefined ? "no allowed origin" : `only ${allowed} is allowed`);
    }
    const exposed = (headers["access-control-expose-headers"] ?? "").toLowerCase().trim();
    const exposes = exposed === "*" || exposed.includes("payment-required");
    return exposes
      ? pass(first.exchange, "allowed and exposed")
      : warn(first.exchange, "no payment headers exposed");
  },
};
