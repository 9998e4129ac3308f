import { nounOf } from "../../contract/noun.ts";
import { DAY_MS } from "../../platform/days.ts";
import { type Check, fail, notApplicable, pass, warn } from "../check.ts";
import { exchangeOf } from "../evidence.ts";

/** `reach.tls`, a gate. */
export const reachTls: Check = {
  id: "reach.tls",
  title: "The certificate is good",
  weight: 6,
  expected: "a chain and name that verify, TLS 1.2 or later, more than 14 days left",
  fix: "Renew the certificate and serve the full chain.",
  find(evidence) {
    const root = exchangeOf(evidence, "root");
    const { tls, origin, scannedAt } = evidence;
    if (origin.startsWith("http:")) return fail(root, "the origin is plain http");
    if (tls === null) return fail(root, root?.failure ?? "no TLS connection");
    if (!tls.isValid) return fail(root, tls.error ?? "the certificate is not valid");
    if (tls.protocol !== null && !/^TLSv1\.[23]$/.test(tls.protocol)) return fail(root, tls.protocol);
    if (tls.validTo === null) return notApplicable("the certificate does not say how long it is valid");
    const days = Math.floor((tls.validTo - scannedAt) / DAY_MS);
    const observed = `${tls.protocol ?? "TLS"}, ${days} ${nounOf(days, "day")} left`;
    if (days > 14) return pass(root, observed);
    return days > 3 ? warn(root, observed) : fail(root, observed);
  },
};
