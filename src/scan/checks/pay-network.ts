import { findKnownNetwork } from "../../payments/tokens.ts";
import { challengePerResource } from "../challenge.ts";
import { type Check, fail, notApplicable, pass, warn, worst } from "../check.ts";
import { written } from "../evidence.ts";

const CAIP2 = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;

export const payNetwork: Check = {
  id: "pay.network",
  title: "The network is a known main network",
  weight: 4,
  expected: "a CAIP-2 id of a main network, such as eip155:8453",
  fix: "Name networks by CAIP-2: eip155:8453 for Base, solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp for Solana.",
  find(evidence) {
    const findings = challengePerResource(evidence)
      .filter(({ accepts }) => accepts.length > 0)
      .map(({ exchange, accepts }) => {
        const names = [...new Set(accepts.map((entry) => written(entry.network)))];
        const observed = names.join(", ");
        const isMain = (name: string) => findKnownNetwork(name)?.isTest === false;
        if (!names.some(isMain)) return fail(exchange, observed);
        const isPlain = names.every((name) => isMain(name) && CAIP2.test(name));
        return isPlain ? pass(exchange, observed) : warn(exchange, observed);
      });
    return worst(findings) ?? notApplicable("no way to pay was seen");
  },
};
