import { misspeltField, WAYS_MAX, waysIn } from "../../payments/ways-to-pay.ts";
import type { JsonObject } from "../../platform/json-value.ts";
import { amountOf, challengePerResource, type SeenChallenge } from "../challenge.ts";
import { type Check, fail, notApplicable, pass, warn } from "../check.ts";
import { jsonOf, written } from "../evidence.ts";

export const payParse: Check = {
  id: "pay.parse",
  title: "The challenge can be read",
  weight: 8,
  expected: "PAYMENT-REQUIRED with base64 JSON and x402Version 2",
  fix: "Send the challenge in PAYMENT-REQUIRED, and the same prices in the body.",
  find(evidence) {
    const challenges = challengePerResource(evidence);
    const [first] = challenges;
    if (first === undefined) return notApplicable("no challenge was seen");
    for (const challenge of challenges) {
      const fault = faultOf(challenge);
      if (fault !== null) return fail(challenge.exchange, fault);
    }
    const old = challenges.find(({ version }) => version === 1);
    return old === undefined
      ? pass(first.exchange, "version 2")
      : warn(old.exchange, "version 1, in the body alone");
  },
};

function faultOf({ exchange, header, body, version }: SeenChallenge): string | null {
  if (header === "undecodable") return "PAYMENT-REQUIRED cannot be decoded";
  if (version === null) return "no challenge with a known x402Version";
  const isUnread = /^\s*\{/.test(exchange.body) && jsonOf(exchange) === null;
  if (isUnread) return "the body cannot be read to its end";
  const fault = hiddenWay(header) ?? hiddenWay(jsonOf(exchange));
  if (fault !== null || header === null || body === null) return fault;
  const ways = new Set(waysIn(header).map((entry) => wayOf(entry, 2)));
  const isSame = waysIn(body).every((entry) => ways.has(wayOf(entry, 1)));
  return isSame ? null : "header and body name different amounts, assets or payees";
}

/** Returns why a way to pay may be read by some clients and not by others, or not by the checks; else null. */
function hiddenWay(challenge: JsonObject | null): string | null {
  if (challenge === null) return null;
  if (waysIn(challenge).length > WAYS_MAX) return `more than ${WAYS_MAX} ways to pay`;
  const misspelt = misspeltField(challenge);
  return misspelt === null ? null : `${misspelt} is a field for some clients alone`;
}

/** The key of an entry: what is paid, and to whom. The versions name networks differently. */
function wayOf(entry: JsonObject, version: 1 | 2): string {
  const paid = [amountOf(entry, version), entry.asset, entry.payTo];
  return paid.map((value) => written(value).toLowerCase()).join(" ");
}
