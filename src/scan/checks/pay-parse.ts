import { isObject, type JsonObject } from "../../platform/json-value.ts";
import { misspeltName } from "../../platform/misspelt-name.ts";
import { ACCEPTS_MAX, amountOf, challengePerResource, type SeenChallenge } from "../challenge.ts";
import { type Check, fail, notApplicable, pass, warn } from "../check.ts";
import { jsonOf, written } from "../evidence.ts";

const CHALLENGE_FIELDS: ReadonlySet<string> = new Set(["accepts"]);
const WAY_FIELDS: ReadonlySet<string> = new Set(
  "scheme network asset payTo amount maxAmountRequired".split(" "),
);

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
  const fault = hiddenWay(header) ?? hiddenWay(body);
  if (fault !== null || header === null || body === null) return fault;
  const ways = new Set(entriesOf(header).map((entry) => wayOf(entry, 2)));
  const isSame = entriesOf(body).every((entry) => ways.has(wayOf(entry, 1)));
  return isSame ? null : "header and body name different amounts, assets or payees";
}

/** Returns why a way to pay may be read by some clients and not by others, or not by the checks; else null. */
function hiddenWay(challenge: JsonObject | null): string | null {
  if (challenge === null) return null;
  const entries = entriesOf(challenge);
  if (entries.length > ACCEPTS_MAX) return `more than ${ACCEPTS_MAX} ways to pay`;
  const within = entries.map((entry) => misspeltName(entry, WAY_FIELDS)).find((name) => name !== null);
  const misspelt = misspeltName(challenge, CHALLENGE_FIELDS) ?? within ?? null;
  return misspelt === null ? null : `${misspelt} is a field for some clients alone`;
}

function entriesOf({ accepts }: JsonObject): readonly JsonObject[] {
  return Array.isArray(accepts) ? accepts.filter(isObject) : [];
}

/** The key of an entry: what is paid, and to whom. The versions name networks differently. */
function wayOf(entry: JsonObject, version: 1 | 2): string {
  const paid = [amountOf(entry, version), entry.asset, entry.payTo];
  return paid.map((value) => written(value).toLowerCase()).join(" ");
}
