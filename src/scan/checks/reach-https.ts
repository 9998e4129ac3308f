import { type Check, fail, notApplicable, pass, warn } from "../check.ts";
import { exchangeOf } from "../evidence.ts";

export const reachHttps: Check = {
  id: "reach.https",
  title: "Plain http leads to https",
  weight: 2,
  expected: "301 or 308 to https on the same host, or port 80 closed",
  fix: "Redirect http to https with 308.",
  find(evidence) {
    const plain = exchangeOf(evidence, "plain_http");
    if (plain === null) return notApplicable("not asked");
    if (plain.status === null) {
      const isClosed = plain.failure === "connect_failed" || plain.failure === "connect_timeout";
      return isClosed ? pass(plain, "port 80 is closed") : notApplicable(`port 80: ${plain.failure}`);
    }
    const location = URL.parse(plain.headers.location ?? "", plain.url);
    const leadsHome = location?.protocol === "https:" && location.hostname === URL.parse(plain.url)?.hostname;
    const observed = `${plain.status}${location === null ? "" : ` to ${location.origin}`}`;
    if (leadsHome && [301, 308].includes(plain.status)) return pass(plain, observed);
    return leadsHome && [302, 303, 307].includes(plain.status)
      ? warn(plain, observed)
      : fail(plain, observed);
  },
};
