import { isObject, parseJson, parseJsonInSteps } from "../platform/json-value.ts";
import { type Steps, stepsFor } from "../platform/steps.ts";
import type { JsonObject, JsonValue } from "./choices.ts";

const VALUES_MAX = 500_000;
const DEPTH_MAX = 512;

/** Returns the value of a JSON text; undefined where it is invalid, or holds more than half a million values, or too deep ones. */
export function jsonOf(text: string): JsonValue | undefined {
  return valid(parseJson(text, VALUES_MAX, DEPTH_MAX));
}

/** As `jsonOf`; a long text in steps. */
export async function jsonInSteps(text: string, step: Steps): Promise<JsonValue | undefined> {
  return valid(await parseJsonInSteps(text, stepsFor(text.length, step), VALUES_MAX, DEPTH_MAX));
}

function valid(value: unknown): JsonValue | undefined {
  return typeof value === "symbol" ? undefined : (value as JsonValue | undefined);
}

/** Returns whether an event of a stream reports a failure, as an object or as a text; an empty `error` reports none. */
export function isError({ error }: JsonObject): boolean {
  return typeof error === "string" ? error !== "" : isObject(error);
}
