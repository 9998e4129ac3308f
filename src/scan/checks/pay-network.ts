import { findNetwork } from "../../payments/networks.ts";
import { challengePerResource } from "../challenge.ts";
import { type Check, fail, notApplicable, pass, warn } from "../check.ts";
import { written } from "../evidence.ts";

/** Mainnets beside those that we know USDC of. */
const MAINNETS =
  /^(eip155:(1|10|56|137|1329|4689|42161|43114|59144|3338)|solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp)$/;
const CAIP2 = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;

export const payNetwork: Check = {
  id: "pay.network",
  title: "The network is a known main network",
  weight: 4,
  expected: "a CAIP-2 id of a main network, such as eip155:8453",
  fix: "Name networks by CAIP-2: eip155:8453 for Base, solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp for Solana.",
  find(evidence) {
    const [first] = challengePerResource(evidence);
    if (first === undefined || first.accepts.length === 0) return notApplicable("no way to pay was seen");
    const names = [...new Set(first.accepts.map((entry) => written(entry.network)))];
    const observed = names.join(", ");
    const isMain = (name: string) => MAINNETS.test(name) || findNetwork(name)?.isTest === false;
    if (!names.some(isMain)) return fail(first.exchange, observed);
    const isPlain = names.every((name) => isMain(name) && CAIP2.test(name));
    return isPlain ? pass(first.exchange, observed) : warn(first.exchange, observed);
  },
};
