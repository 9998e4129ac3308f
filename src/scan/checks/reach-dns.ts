import { type Check, fail, pass, warn } from "../check.ts";
import { exchangesOf } from "../evidence.ts";

const ANSWER_MS_MAX = 5000;

/** `reach.dns`, a gate. */
export const reachDns: Check = {
  id: "reach.dns",
  title: "The host is in the DNS and answers",
  weight: 6,
  expected: "public A or AAAA records and an HTTP answer within 5 s",
  fix: "Publish A and AAAA records and open port 443.",
  find(evidence) {
    const { ipv4, ipv6, failure } = evidence.dns;
    if (ipv4.length + ipv6.length === 0) return fail(null, failure ?? "no address");
    const answered = evidence.exchanges.filter(({ status }) => status !== null);
    const first = answered.find(({ ms }) => ms !== null && ms < ANSWER_MS_MAX);
    const [root] = exchangesOf(evidence, "root");
    if (first === undefined) return fail(root ?? null, root?.failure ?? "no answer within 5 s");
    const observed = `${ipv4.length} IPv4 and ${ipv6.length} IPv6 addresses`;
    return failure === null ? pass(first, observed) : warn(first, `${observed}; ${failure}`);
  },
};
