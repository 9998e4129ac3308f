import { isObject, type JsonObject } from "../platform/json-value.ts";
import { createMisspeltName } from "../platform/misspelt-name.ts";

/** Different ways to pay one resource; of a challenge with more not all are looked at. */
export const WAYS_MAX = 50;

const misspeltInChallenge = createMisspeltName(new Set(["accepts"]));
const misspeltInWay = createMisspeltName(
  new Set("scheme network asset payTo amount maxAmountRequired".split(" ")),
);

/**
 * Returns the first name in a challenge of an unpaid call that some clients take for one of its fields and others do not,
 * or null: such as `PayTo`, behind which another payee may stand.
 */
export function misspeltField(challenge: JsonObject): string | null {
  const lists = Object.fromEntries(Object.entries(challenge).filter(([, value]) => Array.isArray(value)));
  const misspelt = misspeltInChallenge(lists);
  if (misspelt !== null) return misspelt;
  for (const way of waysIn(challenge)) {
    const name = misspeltInWay(way);
    if (name !== null) return name;
  }
  return null;
}

/** Returns the ways to pay of a challenge that are objects. */
export function waysIn({ accepts }: JsonObject): readonly JsonObject[] {
  return Array.isArray(accepts) ? accepts.filter(isObject) : [];
}
