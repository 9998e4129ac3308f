import { type Check, fail, notApplicable, pass, warn } from "../check.ts";
import { exchangeOf } from "../evidence.ts";

const HSTS_SECONDS_MIN = 180 * 86_400;

export const reachHeaders: Check = {
  id: "reach.headers",
  title: "Replies carry the security headers",
  weight: 2,
  expected: "Strict-Transport-Security of at least 180 days and X-Content-Type-Options: nosniff",
  fix: "Add Strict-Transport-Security: max-age=31536000 and X-Content-Type-Options: nosniff.",
  find(evidence) {
    const root = exchangeOf(evidence, "root");
    if (root === null || root.status === null) return notApplicable("no reply");
    const maxAge = /max-age\s*=\s*"?(\d{1,12})/i.exec(root.headers["strict-transport-security"] ?? "")?.[1];
    const hasHsts = Number(maxAge ?? 0) >= HSTS_SECONDS_MIN;
    // A server and the proxy before it may both set it; the first value counts (Fetch, 3.6).
    const [sniffing = ""] = (root.headers["x-content-type-options"] ?? "").split(",");
    const hasNosniff = sniffing.trim().toLowerCase() === "nosniff";
    const observed = `HSTS ${maxAge ?? "missing"}, nosniff ${hasNosniff ? "set" : "missing"}`;
    if (hasHsts && hasNosniff) return pass(root, observed);
    return hasHsts || hasNosniff ? warn(root, observed) : fail(root, observed);
  },
};
