import { isObject, type JsonObject } from "../../platform/json-value.ts";
import { amountOf, challengePerResource } from "../challenge.ts";
import { type Check, fail, notApplicable, pass, warn } from "../check.ts";
import { written } from "../evidence.ts";

/** Entries of each list: a challenge may be long to slow the check down. */
const ENTRIES_MAX = 200;

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
    for (const { exchange, header, body, version } of challenges) {
      if (header === "undecodable") return fail(exchange, "PAYMENT-REQUIRED cannot be decoded");
      if (version === null) return fail(exchange, "no challenge with a known x402Version");
      if (!isObject(header) || body === null || !Array.isArray(header.accepts)) continue;
      const ways = new Set(header.accepts.slice(0, ENTRIES_MAX).filter(isObject).map(wayOf));
      const others = Array.isArray(body.accepts) ? body.accepts.slice(0, ENTRIES_MAX).filter(isObject) : [];
      if (others.some((entry) => !ways.has(wayOf(entry)))) {
        return fail(exchange, "header and body name different amounts, assets or payees");
      }
    }
    const old = challenges.find(({ version }) => version === 1);
    return old === undefined
      ? pass(first.exchange, "version 2")
      : warn(old.exchange, "version 1, in the body alone");
  },
};

/** The key of an entry: what is paid, and to whom. The versions name networks differently. */
function wayOf(entry: JsonObject): string {
  return [amountOf(entry), entry.asset, entry.payTo].map((value) => written(value).toLowerCase()).join(" ");
}
