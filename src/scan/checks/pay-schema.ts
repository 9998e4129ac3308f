import type { JsonObject } from "../../platform/json-value.ts";
import { challengePerResource, type SeenChallenge } from "../challenge.ts";
import { type Check, fail, notApplicable, pass, warn } from "../check.ts";

const TEXTS = ["scheme", "network", "payTo", "asset"] as const;

export const paySchema: Check = {
  id: "pay.schema",
  title: "Every way to pay is complete",
  weight: 8,
  expected: "accepts with scheme, network, amount, asset, payTo and maxTimeoutSeconds in each entry",
  fix: "Send every required field of each entry of accepts, amounts as text.",
  find(evidence) {
    const challenges = challengePerResource(evidence);
    const [first] = challenges;
    if (first === undefined) return notApplicable("no challenge was seen");
    const broken = challenges.filter((challenge) => faultOf(challenge) !== null);
    const [worst] = broken;
    if (worst === undefined) return pass(first.exchange, `${challenges.length} complete`);
    const observed = faultOf(worst) ?? "";
    return broken.length < challenges.length
      ? warn(worst.exchange, observed)
      : fail(worst.exchange, observed);
  },
};

function faultOf({ accepts, version }: SeenChallenge): string | null {
  if (accepts.length === 0) return "accepts is empty";
  for (const entry of accepts) {
    const missing = missingOf(entry, version);
    if (missing !== null) return `${missing} is missing or of another type`;
  }
  return null;
}

/** The fields that clients of a version require. */
function missingOf(entry: JsonObject, version: SeenChallenge["version"]): string | null {
  const text = TEXTS.find((name) => typeof entry[name] !== "string" || entry[name] === "");
  if (text !== undefined) return text;
  const amount = version === 1 ? "maxAmountRequired" : "amount";
  if (typeof entry[amount] !== "string" || entry[amount] === "") return amount;
  if (version === 1 && typeof entry.resource !== "string") return "resource";
  return typeof entry.maxTimeoutSeconds === "number" ? null : "maxTimeoutSeconds";
}
